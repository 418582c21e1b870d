#include "bench/cli/options/ucx_prefix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>

#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

namespace fs = std::filesystem;

constexpr const char* modules_folder = "ucx";

// By their names, UCX's own libraries and its modules.
std::map<std::string, fs::path> files_of_ucx(const fs::path& libraries) {
  std::map<std::string, fs::path> found;
  for (const auto* name : {"libucm.so.0", "libucp.so.0", "libucs.so.0", "libuct.so.0"}) {
    found[name] = libraries / name;
  }
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(libraries / modules_folder, none)) {
    if (entry.path().string().find(".so") == std::string::npos) continue;
    found[entry.path().filename().string()] = entry.path();
  }
  return found;
}

}  // namespace

fs::path ucx_libraries(const std::string& given, const fs::path& prefix) {
  std::error_code ignored;
  for (const auto* below : {"lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"}) {
    if (!fs::exists(prefix / below / "libucp.so.0", ignored)) continue;
    return fs::absolute(prefix / below).lexically_normal();
  }
  throw Failure(Exit::usage,
                fmt::format("{}: no libucp.so.0 in '{}' or lib64; give the prefix of an "
                            "installation of UCX",
                            given, (prefix / "lib").string()));
}

Variables ucx_environment(const fs::path& libraries) {
  auto path = libraries.string();
  if (const auto before = environment_variable("LD_LIBRARY_PATH"); !before.empty()) {
    path += ":" + before;
  }
  return {{"LD_LIBRARY_PATH", path}, {"UCX_MODULE_DIR", (libraries / modules_folder).string()}};
}

bool is_same_ucx(const fs::path& one, const fs::path& other) {
  const auto base = files_of_ucx(one);
  const auto now = files_of_ucx(other);
  return std::ranges::equal(base, now, [](const auto& a, const auto& b) {
    return a.first == b.first && have_same_contents(a.second, b.second);
  });
}

bool have_same_contents(const fs::path& one, const fs::path& other) {
  std::error_code unknown;
  if (one == other || fs::equivalent(one, other, unknown)) return true;
  const auto bytes = fs::file_size(one, unknown);
  if (unknown || bytes != fs::file_size(other, unknown) || unknown) return false;
  std::ifstream base(one, std::ios::binary);
  std::ifstream now(other, std::ios::binary);
  using Bytes = std::istreambuf_iterator<char>;
  return base && now && std::equal(Bytes(base), Bytes(), Bytes(now), Bytes());
}

}  // namespace ucxbench
