#include "harness/result/transfers.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

#include "harness/core/failure.hpp"
#include "harness/result/file.hpp"

namespace ucxbench {
namespace {

constexpr std::string_view magic = "UCXTRF01";

}  // namespace

std::vector<std::uint8_t> section_bytes(TransferSection section,
                                        std::span<const Transfer> records) {
  section.records = static_cast<std::uint32_t>(records.size());
  std::vector<std::uint8_t> bytes(sizeof section + records.size_bytes());
  std::memcpy(bytes.data(), &section, sizeof section);
  if (!records.empty()) {
    std::memcpy(bytes.data() + sizeof section, records.data(), records.size_bytes());
  }
  return bytes;
}

std::filesystem::path transfers_file(const std::filesystem::path& run_file) {
  auto file = run_file;
  return file.replace_extension(".transfers.bin");
}

void append_transfers(const std::filesystem::path& file, std::span<const std::uint8_t> sections) {
  std::error_code absent;
  std::string bytes(std::filesystem::file_size(file, absent) == 0 || absent ? magic : "");
  bytes.append(reinterpret_cast<const char*>(sections.data()), sections.size());
  append_whole(file, bytes, NamedBy::program);
}

std::vector<LoggedTransfers> read_transfers(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    throw Failure(Exit::usage, fmt::format("{}: cannot read the transfer log, which lies beside "
                                           "its run file: {}",
                                           file.string(), std::strerror(errno)));
  }
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (!bytes.starts_with(magic)) {
    throw Failure(Exit::usage, fmt::format("{}: not a transfer log of ucx-bench (it would begin "
                                           "with {})",
                                           file.string(), magic));
  }
  std::vector<LoggedTransfers> all;
  std::size_t at = magic.size();
  const auto cut_off = [&] {
    return Failure(Exit::usage, fmt::format("{}: the transfer log is cut off at byte {}",
                                            file.string(), bytes.size()));
  };
  const auto take = [&](void* to, std::size_t count) {
    if (count > bytes.size() - at) throw cut_off();
    if (count != 0) std::memcpy(to, bytes.data() + at, count);
    at += count;
  };
  while (at < bytes.size()) {
    auto& logged = all.emplace_back();
    take(&logged.section, sizeof logged.section);
    if (logged.section.records > (bytes.size() - at) / sizeof(Transfer)) {
      throw cut_off();
    }
    logged.records.resize(logged.section.records);
    take(logged.records.data(), logged.records.size() * sizeof(Transfer));
  }
  return all;
}

}  // namespace ucxbench
