#include "bench/cli/commands/ab_sides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <system_error>

#include "bench/cli/options/ucx_prefix.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/text.hpp"
#include "harness/launch/program.hpp"
#include "harness/result/words.hpp"
#include "harness/run/loaded_libraries.hpp"
#include "harness/transports/known_settings.hpp"

namespace ucxbench {
namespace {

namespace fs = std::filesystem;

// They choose which files a program loads, and do nothing else.
constexpr std::array<const char*, 3> loader_variables = {"LD_LIBRARY_PATH", "LD_PRELOAD",
                                                         "UCX_MODULE_DIR"};

constexpr const char* what_to_give = "give --base PROGRAM, --new-ucx PREFIX or --new-env KEY=VALUE";

// Those that choose what UCX says, and where.
constexpr std::array<const char*, 3> of_logging = {"UCX_LOG_LEVEL", "UCX_LOG_FILE",
                                                   "UCX_WARN_UNUSED_ENV_VARS"};

/// Not as a part of a longer name.
bool has_word(std::string_view line, std::string_view name) {
  const auto in_a_name = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  };
  for (auto at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
    const auto end = at + name.size();
    if (end == line.size() || !in_a_name(line[end])) return true;
  }
  return false;
}

bool is_loader_variable(std::string_view name) {
  return std::ranges::find(loader_variables, name) != loader_variables.end();
}

const Json& libraries_of(const AbSide& side) { return side.plan.at("libraries"); }

std::string version_of(const AbSide& side) { return text_at(side.plan, "/ucx/version", "?"); }

std::string library_of(const AbSide& side) { return text_at(side.plan, "/ucx/library", "?"); }

bool is_same_library(const Json& base, const Json& now) {
  if (base.at("path") == now.at("path")) return true;
  // Two builds of one source may have the same size, and reading both takes longer.
  if (base.at("build") != now.at("build")) return false;
  return have_same_contents(base.at("path").get<std::string>(), now.at("path").get<std::string>());
}

bool load_the_same(const AbSide& base, const AbSide& now) {
  // An older build tells one library only.
  if (!base.plan.contains("program") || !now.plan.contains("program")) {
    return have_same_contents(library_of(base), library_of(now));
  }
  const auto& one = libraries_of(base);
  const auto& other = libraries_of(now);
  return one.size() == other.size() && std::ranges::all_of(one.items(), [&](const auto& library) {
           const auto found = other.find(library.key());
           return found != other.end() && is_same_library(library.value(), *found);
         });
}

// Where UCX tells them: one that is given may be what it would be otherwise.
Json values_of_ucx(const AbSide& side) {
  return side.plan.at("ucx").value("settings", Json::object());
}

/// Of what a program sees itself, which a wrapper may have set. A variable of UCX counts by the
/// value that UCX has.
Json settings_of(const AbSide& side) {
  Json settings = Json::object();
  const auto of_ucx = values_of_ucx(side);
  for (const auto& [name, value] : of_ucx.items()) {
    if (value != Json("")) settings[name] = value;
  }
  for (const auto& [name, value] : side.plan.at("variables").items()) {
    if (!is_loader_variable(name) && !settings.contains(name)) settings[name] = value;
  }
  for (const auto& [name, value] : environment_of(side)) {
    if (!is_loader_variable(name) && !settings.contains(name)) settings[name] = value;
  }
  // What they choose is in the libraries, and in the other values.
  for (const auto* name : {"UCX_MODULE_DIR", "UCX_CONFIG_DIR"}) settings.erase(name);
  settings["cpus"] = side.plan.at("cpus");
  return settings;
}

std::string option_of(const AbSide& side, const std::string& name) {
  return fmt::format("--{}-env {}={}", side.name, name, side.added.at(name));
}

void check_variables(const AbSide& side) {
  const auto known = values_of_ucx(side).get<Variables>();
  for (const auto& [name, value] : side.added) {
    if (name == "UCX_MODULE_DIR") {
      std::error_code absent;
      if (fs::is_directory(value, absent)) continue;
      throw Failure(Exit::usage, fmt::format("{}: there is no such folder; give the prefix of an "
                                             "installation of UCX, --{}-ucx PREFIX",
                                             option_of(side, name), side.name));
    }
    if (!name.starts_with("UCX_")) continue;
    if (side.plan.value("replaced", Json::object()).contains(name)) {
      throw Failure(Exit::usage,
                    fmt::format("{}: the suite's cases set {} themselves, which wins; leave it out",
                                option_of(side, name), name));
    }
    const auto why = why_unknown_setting(name, known, version_of(side));
    if (!why.empty()) throw Failure(Exit::usage, option_of(side, name) + ": " + why);
  }
}

void check_prefix(const AbSide& side) {
  if (side.ucx_asked.empty()) return;
  std::error_code absent;
  const auto loaded = fs::path(library_of(side)).parent_path();
  if (fs::equivalent(loaded, side.ucx_libraries, absent)) return;
  throw Failure(Exit::usage,
                fmt::format("{}: {} loads {} instead; see its RPATH, LD_PRELOAD, and what a script "
                            "sets",
                            side.ucx_asked, side.program, library_of(side)));
}

/// What was to make the new side, or the base, load other files; empty where nothing was.
std::string asked_for_files(const AbSide& base, const AbSide& now) {
  const auto variables = std::array{environment_of(base), environment_of(now)};
  const auto value = [&](int of, const char* name) {
    const auto found = variables.at(of).find(name);
    return found == variables.at(of).end() ? "" : found->second;
  };
  for (const auto* side : {&now, &base}) {
    for (const auto* name : loader_variables) {
      if (value(0, name) == value(1, name) || !side->added.contains(name)) continue;
      return side->ucx_asked.empty() ? option_of(*side, name) : side->ucx_asked;
    }
  }
  return "";
}

}  // namespace

Variables environment_of(const AbSide& side) {
  auto environment = current_environment();
  std::erase_if(environment,
                [](const auto& entry) { return entry.first.starts_with("UCXBENCH_"); });
  for (const auto& [name, value] : side.added) environment[name] = value;
  return environment;
}

Variables variables_of(const AbSide& side) {
  auto variables = side.added;
  if (side.plan.is_null() || !side.plan.contains("variables")) return variables;
  for (const auto& [name, value] : side.plan.at("variables").items()) {
    if (name.starts_with("UCX_")) variables[name] = value.get<std::string>();
  }
  return variables;
}

std::vector<Variables> talkative_environments(const AbSide& side) {
  std::vector<Variables> environments;
  if (side.plan.is_null() || !side.plan.contains("plans")) return environments;
  for (const auto& plan : side.plan.at("plans")) {
    auto environment = environment_of(side);
    for (const auto& [name, value] : plan.at("settings").items())
      environment[name] = value.get<std::string>();
    for (const auto* name : of_logging) environment.erase(name);
    environment["UCX_LOG_LEVEL"] = "warn";
    if (std::ranges::find(environments, environment) == environments.end()) {
      environments.push_back(std::move(environment));
    }
  }
  return environments;
}

std::vector<std::string> unused_in(const AbSide& side, const std::string& said) {
  std::vector<std::string> names;
  for (const auto line : split_text(said, '\n')) {
    if (line.find("unused env") == std::string_view::npos) continue;
    for (const auto& [name, value] : side.added) {
      const bool by_us = std::ranges::find(of_logging, name) != of_logging.end();
      if (name.starts_with("UCX_") && !by_us && has_word(line, name)) names.push_back(name);
    }
  }
  return names;
}

std::vector<std::string> same_builds(const AbSide& base, const AbSide& now) {
  std::vector<std::string> names;
  if (base.plan.is_null() || now.plan.is_null()) return names;
  for (const auto& [name, library] : libraries_of(now).items()) {
    const auto other = libraries_of(base).find(name);
    if (other == libraries_of(base).end() || library.at("build").is_null()) continue;
    if (library.at("build") != other->at("build") || is_same_library(library, *other)) continue;
    names.push_back(name);
  }
  return names;
}

std::string ucx_in_words(const AbSide& side) {
  const auto ucx = ucx_of(side);
  if (ucx.is_null()) return "UCX: this build does not say which";
  auto text = fmt::format("UCX {}: {}", version_of(side),
                          text_at(ucx, "/libraries/libucp.so.0", library_of(side)));
  for (const auto* name : {"libuct.so.0", "libucs.so.0"}) {
    const auto library = libraries_of(side).find(name);
    if (library == libraries_of(side).end() || library->at("build").is_null()) continue;
    text += fmt::format(", {} (build {})", name, library->at("build").get<std::string>());
  }
  const auto modules = text_at(ucx, "/modules", "");
  return modules.empty() ? text : text + ", modules in " + modules;
}

Json ucx_of(const AbSide& side) {
  if (side.plan.is_null()) return {};
  Json ucx = {{"version", version_of(side)}, {"library", library_of(side)}};
  if (side.plan.at("ucx").contains("modules")) ucx["modules"] = side.plan.at("ucx").at("modules");
  ucx["libraries"] = Json::object();
  for (const auto& [name, library] : libraries_of(side).items()) {
    if (!name.starts_with("libuc")) continue;
    ucx["libraries"][name] = in_words(
        {.path = library.at("path").get<std::string>(), .build = text_at(library, "/build", "")});
  }
  return ucx;
}

void check_difference(const AbSide& base, const AbSide& now) {
  std::error_code ignored;
  const bool one_program =
      base.program == now.program ||
      fs::equivalent(find_program(base.program), find_program(now.program), ignored);
  if (!one_program || environment_of(base) != environment_of(now)) return;
  throw Failure(Exit::usage, fmt::format("both sides are {} in the same environment: there is "
                                         "nothing to compare; {}",
                                         now.program, what_to_give));
}

void check_side(const AbSide& side) {
  if (side.plan.is_null()) return;
  check_variables(side);
  check_prefix(side);
}

void check_plans(const AbSide& base, const AbSide& now) {
  if (base.plan.is_null() || now.plan.is_null() || !load_the_same(base, now)) return;
  const auto same =
      fmt::format("both sides load the same UCX {} ({})", version_of(now), library_of(now));
  if (const auto asked = asked_for_files(base, now); !asked.empty()) {
    throw Failure(Exit::usage,
                  fmt::format("{}: {}, and no other library differs: there is nothing to compare; "
                              "give the prefix of the other one, --base-ucx PREFIX or --new-ucx "
                              "PREFIX",
                              asked, same));
  }
  const auto program = [](const AbSide& side) { return text_at(side.plan, "/program", ""); };
  if (program(base).empty() || !have_same_contents(program(base), program(now))) return;
  if (settings_of(base) != settings_of(now)) return;
  throw Failure(Exit::usage,
                fmt::format("both sides are the same build of ucx-bench, {}, and its settings are "
                            "equal: there is nothing to compare; {}",
                            same, what_to_give));
}

}  // namespace ucxbench
