#include "bench/cli/options/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iterator>
#include <regex>
#include <set>
#include <string_view>

#include "harness/core/failure.hpp"
#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

constexpr std::string_view prefix = "UCXBENCH_";
constexpr std::string_view internal = "UCXBENCH_INTERNAL_";  // see harness/launch/process.hpp

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

bool colored(const std::string& color) {
  if (color != "auto") return color == "always";
  if (is_set("NO_COLOR")) return false;
  if (is_set("CLICOLOR_FORCE")) return true;
  const char* term = std::getenv("TERM");
  return isatty(STDOUT_FILENO) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

std::vector<std::string> long_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back(name);
  }
  return names;
}

/// UCXBENCH_* of the environment, less what a supervisor tells its ranks, the token of a remote run
/// and the scripts' interpreter.
std::vector<std::string_view> twins_of_environment() {
  static const std::set<std::string_view> others = {"UCXBENCH_TOKEN", "UCXBENCH_PYTHON"};
  std::vector<std::string_view> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    const auto name = variable.substr(0, variable.find('='));
    if (!name.starts_with(prefix) || name.starts_with(internal) || others.contains(name)) continue;
    names.push_back(name);
  }
  return names;
}

bool has_command(const CLI::App& app, const std::string& name) {
  const auto commands = app.get_subcommands({});
  return std::any_of(commands.begin(), commands.end(),
                     [&](const CLI::App* command) { return command->get_name() == name; });
}

std::vector<std::string> commands_with(const CLI::App& app, const std::string& option) {
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands({})) {
    if (command->get_option_no_throw(option) != nullptr) names.push_back(command->get_name());
  }
  return names;
}

/// Where an option took the next one for its value: which; empty where none did.
std::string option_as_value(const CLI::App& app, const CLI::App& command) {
  const auto is_option = [&](const std::string& text) {
    return text.starts_with("--") ||
           (text.starts_with('-') && (command.get_option_no_throw(text) != nullptr ||
                                      app.get_option_no_throw(text) != nullptr));
  };
  for (const auto* of : {&app, &command}) {
    for (const auto* option : of->get_options()) {
      for (const auto& value : option->results()) {
        if (!is_option(value)) continue;
        return fmt::format("--{}: expected {}, not the option '{}'", option->get_lnames().front(),
                           option->get_type_name(), value);
      }
    }
  }
  return "";
}

}  // namespace

std::optional<RenderOptions> GlobalOptions::table() const {
  if (quiet) return std::nullopt;
  return RenderOptions{.color = colored(color),
                       .brief = isatty(STDOUT_FILENO) == 1,
                       .all_rows = all_rows,
                       .findings = verbose};
}

CLI::Validator one_of(const std::vector<std::string>& names) {
  const auto check = [names](const std::string& given) {
    return std::ranges::find(names, given) != names.end() ? ""
                                                          : unknown_name("value", given, names);
  };
  return {check, fmt::format("{{{}}}", fmt::join(names, ","))};
}

CLI::Validator in_range(double least, double most) {
  const auto range = fmt::format("{:g} to {:g}", least, most);
  const auto check = [=](const std::string& given) {
    double value = 0;
    const bool number = CLI::detail::lexical_cast(given, value);
    return number && value >= least && value <= most
               ? ""
               : fmt::format("'{}': expected a number, {}", given, range);
  };
  return {check, range};
}

std::string twin_of(const std::string& long_option) {
  std::string name(prefix);
  for (const char c : long_option) {
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

bool has_environment_twins() { return !twins_of_environment().empty(); }

void add_environment_twins(CLI::App& app) {
  std::set<std::string, std::less<>> twins;
  std::vector<CLI::App*> apps = app.get_subcommands(nullptr);
  // With it CLI11 looks only at the twins of the command that is given: the same name can be an
  // option of another one that takes other values.
  for (auto* command : apps) command->parse_complete_callback([] {});
  apps.push_back(&app);
  for (auto* each : apps) {
    for (auto* option : each->get_options()) {
      if (option->get_lnames().empty() || option->get_lnames().front() == "help" ||
          option->get_lnames().front() == "version") {
        continue;
      }
      const auto twin = twin_of(option->get_lnames().front());
      option->envname(twin);
      twins.insert(twin);
    }
  }
  for (const auto name : twins_of_environment()) {
    if (!twins.contains(name)) {
      throw Failure(Exit::usage,
                    unknown_name("environment variable", name, {twins.begin(), twins.end()}));
    }
  }
}

std::vector<std::string> unused_twins(const CLI::App& app, const CLI::App& command) {
  std::set<std::string, std::less<>> others;
  std::vector<std::string> known;
  for (const auto* each : app.get_subcommands(nullptr)) {
    for (const auto& name : long_names(*each)) others.insert(twin_of(name));
  }
  for (const auto* each : {&app, &command}) {
    for (const auto& name : long_names(*each)) {
      others.erase(twin_of(name));
      known.push_back(twin_of(name));
    }
  }
  std::vector<std::string> lines;
  for (const auto name : twins_of_environment()) {
    if (!others.contains(name)) continue;
    const auto hint = did_you_mean(name, known);
    lines.push_back(fmt::format("{} of the environment is not used: '{}' has no such option{}{}",
                                name, command.get_name(), hint.empty() ? "" : "; ", hint));
  }
  return lines;
}

void apply_config_file(CLI::App& app, CLI::App& command, const std::string& file) {
  if (file.empty()) return;
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigTOML().from_file(file);
  } catch (const CLI::Error& error) {
    throw Failure(Exit::usage, fmt::format("--config {}: {}", file, error.what()));
  }
  for (const auto& item : items) {
    // "++" and "--" open and close a table.
    if (item.name == "++" || item.name == "--") continue;
    const bool other_command = !item.parents.empty() && item.parents.front() != command.get_name();
    if (other_command && has_command(app, item.parents.front())) continue;
    auto* option = command.get_option_no_throw("--" + item.name);
    if (option == nullptr) option = app.get_option_no_throw("--" + item.name);
    if (other_command) {
      throw Failure(Exit::usage, fmt::format("--config {}: '{}' is in no command's table", file,
                                             item.fullname()));
    }
    if (option == nullptr) {
      throw Failure(Exit::usage,
                    fmt::format("--config {}: {}", file,
                                unknown_name("option", item.name, long_names(command))));
    }
    if (option->count() > 0) continue;
    try {
      if (option->get_items_expected_max() == 0) {
        option->add_result(item.inputs.empty() ? "true" : item.inputs.front());
      } else if (option->get_items_expected_max() == 1) {
        // A list of sizes is one word on the command line.
        option->add_result(fmt::format("{}", fmt::join(item.inputs, ",")));
      } else {
        option->add_result(item.inputs);
      }
      option->run_callback();
    } catch (const CLI::Error& error) {
      throw Failure(Exit::usage, fmt::format("--config {}: {}", file, error.what()));
    } catch (const Failure& failure) {
      throw Failure(failure.exit(), fmt::format("--config {}: {}", file, failure.what()));
    }
  }
}

std::vector<std::string> given_words(const CLI::App& command) {
  std::vector<std::string> words = {command.get_name()};
  for (const auto* option : command.get_options()) {
    const auto& names = option->get_lnames();
    const auto name = names.empty() ? "" : "--" + names.front();
    for (const auto& value : option->results()) {
      const bool flag = option->get_items_expected_max() == 0;
      words.push_back(flag ? name : name.empty() ? value : name + "=" + value);
    }
  }
  return words;
}

void fill_unset(CLI::App& command, const std::map<std::string, std::string>& values) {
  for (const auto& [name, value] : values) {
    auto* option = command.get_option("--" + name);
    if (option->count() > 0) continue;
    option->add_result(value);
    option->run_callback();
  }
}

void refuse_options_as_values(const CLI::App& app, const CLI::App& command) {
  const auto wrong = option_as_value(app, command);
  if (!wrong.empty()) throw Failure(Exit::usage, wrong);
}

std::string explain(const CLI::ParseError& error, const CLI::App& app) {
  // What is required and missing may be what was misspelled.
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr &&
      dynamic_cast<const CLI::RequiredError*>(&error) == nullptr) {
    // CLI11 says "1 required FILE missing".
    static const std::regex missing("^(--\\S+): 1 required (.+) missing$");
    return std::regex_replace(error.what(), missing, "$1: expected $2 after it");
  }
  const auto commands = app.get_subcommands();
  for (const auto* command : commands) {
    if (auto wrong = option_as_value(app, *command); !wrong.empty()) return wrong;
  }
  const auto extras = app.remaining(true);
  if (commands.empty() && !extras.empty() && !extras.front().starts_with('-')) {
    std::vector<std::string> names;
    for (const auto* known : app.get_subcommands({})) names.push_back(known->get_name());
    return unknown_name("command", extras.front(), names);
  }
  const auto option = std::find_if(extras.begin(), extras.end(),
                                   [](const auto& extra) { return extra.starts_with("--"); });
  if (option != extras.end()) {
    auto names = long_names(app);
    for (const auto* command : commands)
      std::ranges::copy(long_names(*command), std::back_inserter(names));
    // There are too many to name them all.
    for (auto& name : names) name.insert(0, "--");
    const auto name = option->substr(0, option->find('='));
    if (const auto others = commands_with(app, name); !others.empty()) {
      return fmt::format("unknown option '{}': {} {} it", name, fmt::join(others, ", "),
                         others.size() == 1 ? "has" : "have");
    }
    const auto hint = did_you_mean(name, names);
    return fmt::format("unknown option '{}'{}{}", name, hint.empty() ? "" : ": ", hint);
  }
  if (extras.empty() || dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr)
    return error.what();
  return fmt::format("unexpected argument '{}'", extras.front());
}

}  // namespace ucxbench
