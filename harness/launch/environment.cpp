#include "harness/launch/environment.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string_view>

#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

bool is_ucx(std::string_view name) { return name.starts_with("UCX_"); }

/// An INI file as UCX's parser takes it: sections do not matter, '=' or ':' separates, ';' and '#'
/// begin a comment line, and a blank before ';' a comment within a line.
Variables parse_ini(std::istream& file) {
  Variables settings;
  for (std::string text; std::getline(file, text);) {
    const auto line = trim_text(text);
    if (line.empty() || line.find_first_of(";#[") == 0) continue;
    const auto separator = line.find_first_of("=:");
    if (separator == std::string_view::npos) continue;
    auto value = trim_text(line.substr(separator + 1));
    for (const auto* comment : {" ;", "\t;"})
      value = trim_text(value.substr(0, value.find(comment)));
    settings[std::string(trim_text(line.substr(0, separator)))] = value;
  }
  return settings;
}

}  // namespace

Variables current_environment() {
  Variables variables;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

RankEnvironment rank_environment(const Variables& inherited, const Variables& from_case,
                                 const Variables& from_user) {
  RankEnvironment result;
  result.asked = from_user;
  result.asked.insert(from_case.begin(), from_case.end());  // keeps the user's
  Variables all = result.asked;
  all.emplace("UCX_HANDLE_ERRORS", "none");
  for (const auto& [name, value] : inherited) {
    if (name == "UCXBENCH_TOKEN") continue;
    const auto [winner, passed] = all.emplace(name, value);
    if (!is_ucx(name)) continue;
    if (passed) {
      result.inherited.emplace(name, value);
    } else if (winner->second != value) {
      result.replaced.emplace(name, value);
    }
  }
  for (const auto& [name, value] : all) {
    result.entries.push_back(fmt::format("{}={}", name, value));
  }
  return result;
}

std::vector<UcxConf> find_ucx_conf(const Variables& environment, const UcxConfPlaces& places) {
  std::vector<std::filesystem::path> paths{places.system / "ucx.conf"};
  if (!places.library.empty()) {
    paths.push_back(places.library.parent_path() / "../etc/ucx.conf");
  }
  for (const auto* name : {"HOME", "UCX_CONFIG_DIR"}) {
    if (const auto found = environment.find(name); found != environment.end()) {
      paths.push_back(std::filesystem::path(found->second) / "ucx.conf");
    }
  }
  paths.push_back(places.working / "ucx.conf");

  std::vector<UcxConf> found;
  for (const auto& path : paths) {
    std::ifstream file(path);
    std::error_code ignored;
    if (!file || std::filesystem::is_directory(path, ignored)) continue;
    found.push_back({path.lexically_normal(), parse_ini(file)});
  }
  return found;
}

}  // namespace ucxbench
