#include "harness/transports/ucx_error.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "harness/core/announced.hpp"

namespace ucxbench {

void throw_ucx_failure(ucs_status_t status, std::string_view call, Exit exit,
                       std::source_location where) {
  if (status == UCS_ERR_MESSAGE_TRUNCATED) refuse_length();
  throw Failure(exit, fmt::format("{}: {} ({}:{})", call, ucs_status_string(status),
                                  std::filesystem::path(where.file_name()).filename().string(),
                                  where.line()));
}

}  // namespace ucxbench
