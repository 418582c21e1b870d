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

/// While it lives, the environment has no UCX_*.
class WithoutSettings {
 public:
  WithoutSettings() {
    for (const auto& [name, value] : environment_) {
      if (name.starts_with(beginning)) ::unsetenv(name.c_str());
    }
  }
  ~WithoutSettings() {
    for (const auto& [name, value] : environment_) {
      if (name.starts_with(beginning)) ::setenv(name.c_str(), value.c_str(), 1);
    }
  }
  WithoutSettings(const WithoutSettings&) = delete;
  WithoutSettings& operator=(const WithoutSettings&) = delete;

 private:
  Variables environment_ = current_environment();
};

// "Invalid value for RNDV_THRESH: 'soon'. Expected: …", of a line of UCX's log; empty without one.
std::string error_in(std::string_view said) {
  constexpr std::string_view error = " ERROR ";
  const auto at = said.find(error);
  if (at == std::string_view::npos) return "";
  const auto words = said.substr(at + error.size());
  return std::string(trim_text(words.substr(0, words.find('\n'))));
}

}  // namespace

Variables known_ucx_settings() {
  auto known = settings_in(all_settings());
  // UCX leaves out a whole table where the environment has a value that it cannot read.
  const WithoutSettings without;
  for (const auto& [name, value] : settings_in(all_settings())) known.emplace(name, "");
  // The only one in no table: where UCX looks for a ucx.conf.
  if (!known.empty()) known.emplace("UCX_CONFIG_DIR", "");
  return known;
}

void to_json(Json& json, const UnreadableSetting& setting) {
  json = {setting.name, setting.value, setting.why};
}

void from_json(const Json& json, UnreadableSetting& setting) {
  json.at(0).get_to(setting.name);
  json.at(1).get_to(setting.value);
  json.at(2).get_to(setting.why);
}

std::vector<UnreadableSetting> unreadable_settings(
    const std::vector<std::pair<std::string, std::string>>& values, const std::string& version) {
  std::vector<UnreadableSetting> unreadable;
  const WithoutSettings without;
  const auto known = settings_in(all_settings()).size();
  for (const auto& [name, value] : values) {
    std::size_t left = 0;
    ::setenv(name.c_str(), value.c_str(), 1);
    const auto said = printed_to_stdout([&] { left = settings_in(all_settings()).size(); });
    ::unsetenv(name.c_str());
    if (left >= known) continue;  // it leaves out what it cannot read, as above
    const auto words = error_in(said);
    unreadable.push_back({name, value,
                          fmt::format("UCX {} cannot read this value{}", version,
                                      words.empty() ? "" : ": " + words)});
  }
  return unreadable;
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
