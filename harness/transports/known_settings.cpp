#include "harness/transports/known_settings.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <ucs/config/types.h>

#include <cstdio>
#include <string_view>
#include <vector>

#include "harness/core/text.hpp"
#include "harness/transports/printed.hpp"

namespace ucxbench {
namespace {

constexpr std::string_view beginning = "UCX_";
constexpr std::string_view taken_over = "# inherits:";

// All tables of UCX's settings, as `ucx_info -f` prints them. The last argument, a filter, is one
// of newer versions only. UCX 1.13 ignores it, since it stands in a register.
std::string all_settings() {
  using PrintAll = void (*)(std::FILE*, const char*, int, void*, const char*);
  const auto print =
      reinterpret_cast<PrintAll>(::dlsym(RTLD_DEFAULT, "ucs_config_parser_print_all_opts"));
  auto* tables = ::dlsym(RTLD_DEFAULT, "ucs_config_global_list");
  if (print == nullptr || tables == nullptr) return "";
  constexpr int all = UCS_CONFIG_PRINT_CONFIG | UCS_CONFIG_PRINT_DOC | UCS_CONFIG_PRINT_HIDDEN;
  return printed([&](std::FILE* out) { print(out, beginning.data(), all, tables, nullptr); });
}

Variables settings_in(std::string_view text) {
  Variables settings;
  for (auto line : split_text(text, '\n')) {
    if (line.starts_with(taken_over)) {
      for (const auto name : split_text(line.substr(taken_over.size()), ',')) {
        settings.emplace(trim_text(name), "");
      }
    }
    const auto equals = line.find('=');
    if (line.starts_with(beginning) && equals != std::string_view::npos) {
      settings[std::string(line.substr(0, equals))] = line.substr(equals + 1);
    }
  }
  return settings;
}

}  // namespace

Variables known_ucx_settings() {
  auto known = settings_in(all_settings());
  // UCX leaves out a whole table where the environment has a value that it cannot read.
  const auto environment = current_environment();
  for (const auto& [name, value] : environment) {
    if (name.starts_with(beginning)) ::unsetenv(name.c_str());
  }
  for (const auto& [name, value] : settings_in(all_settings())) known.emplace(name, "");
  for (const auto& [name, value] : environment) {
    if (name.starts_with(beginning)) ::setenv(name.c_str(), value.c_str(), 1);
  }
  // The only one in no table: where UCX looks for a ucx.conf.
  if (!known.empty()) known.emplace("UCX_CONFIG_DIR", "");
  return known;
}

std::string why_unknown_setting(const std::string& name, const Variables& known,
                                const std::string& version) {
  if (known.empty() || known.contains(name)) return "";
  std::vector<std::string> names;
  for (const auto& [each, value] : known) names.push_back(each);
  const auto near = did_you_mean(name, names);
  return fmt::format("UCX {} has no such variable{}", version,
                     near.empty() ? " here (ucx_info -f lists them)" : ": " + near);
}

}  // namespace ucxbench
