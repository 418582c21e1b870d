#include "harness/comm/ucx_error.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace ucxbench {

void check(ucs_status_t status, std::string_view call, Exit exit, std::source_location where) {
  if (status == UCS_OK) return;
  throw Failure(exit, fmt::format("{}: {} ({}:{})", call, ucs_status_string(status),
                                  std::filesystem::path(where.file_name()).filename().string(),
                                  where.line()));
}

}  // namespace ucxbench
