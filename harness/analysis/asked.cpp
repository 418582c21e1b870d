#include "harness/analysis/asked.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

// Those before a command that have a value.
constexpr std::array<std::string_view, 3> global_options = {"--color", "--progress", "--config"};

// The first word that is neither a global option nor its value; the end where there is none.
std::vector<std::string>::const_iterator find_command(const std::vector<std::string>& words) {
  auto word = words.begin();
  while (word != words.end() && word->starts_with('-')) {
    const bool has_value = std::ranges::find(global_options, *word) != global_options.end();
    ++word;
    if (has_value && word != words.end()) ++word;
  }
  return word;
}

// Where results go, how often, and how long is waited for: the same is measured.
constexpr std::array<std::string_view, 23> no_question = {"--json",
                                                          "--csv",
                                                          "--markdown",
                                                          "--html",
                                                          "--gbench",
                                                          "--bencher",
                                                          "--smaller-is-better",
                                                          "--bigger-is-better",
                                                          "--junit",
                                                          "--prometheus",
                                                          "--trace",
                                                          "--transfers",
                                                          "--tag",
                                                          "--launches",
                                                          "--timeout",
                                                          "--token-file",
                                                          "--quiet",
                                                          "--verbose",
                                                          "--progress",
                                                          "--color",
                                                          "--config",
                                                          "-q",
                                                          "-v"};

struct Option {
  std::string name, value;
};

bool is_option(const std::string& word) { return word.size() > 1 && word.starts_with('-'); }

// "--name=value", or "--name value" as people type it; a flag has no value.
std::vector<Option> options_of(const std::vector<std::string>& words) {
  std::vector<Option> options;
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (!is_option(words[at])) continue;
    const auto equals = words[at].find('=');
    Option option{.name = words[at].substr(0, equals), .value = {}};
    if (option.name == "-n") option.name = "--ranks";
    if (equals != std::string::npos) {
      option.value = words[at].substr(equals + 1);
    } else if (at + 1 < words.size() && !is_option(words[at + 1])) {
      option.value = words[++at];
    }
    if (std::ranges::find(no_question, option.name) == no_question.end()) {
      options.push_back(std::move(option));
    }
  }
  std::ranges::stable_sort(options, {}, &Option::name);
  return options;
}

// "ci/suite.toml", wherever that is.
std::string suite_of(const std::vector<std::string>& words) {
  const auto file =
      std::ranges::find_if(words, [](const auto& word) { return word.ends_with(".toml"); });
  if (file == words.end()) return "";
  const auto path = std::filesystem::path(*file).lexically_normal();
  return " " + (path.parent_path().filename() / path.filename()).string();
}

bool of_a_suite(const Result& result) {
  const auto command = command_of(result);
  return command == "suite" || command == "ab";
}

}  // namespace

std::vector<std::string> asked_words(const Result& result) {
  if (result.run.contains("asked")) return texts_of(result.run.at("asked"));
  auto words = result.run.contains("command") ? texts_of(result.run.at("command"))
                                              : std::vector<std::string>();
  if (!words.empty()) words.erase(words.begin());
  return words;
}

std::string command_of(const Result& result) {
  const auto words = asked_words(result);
  const auto command = find_command(words);
  return command == words.end() ? "" : *command;
}

std::string asked_in_words(const Result& result) {
  const auto words = asked_words(result);
  const auto command = find_command(words);
  if (command == words.end()) return words.empty() ? "?" : join(words, " ");
  auto text = *command;
  const std::vector<std::string> rest(std::next(command), words.end());
  if (of_a_suite(result)) text += suite_of(rest);
  for (const auto& [name, value] : options_of(rest)) {
    if (of_a_suite(result) && !name.ends_with("-env")) continue;
    text += fmt::format(" {}{}{}", name, value.empty() ? "" : " ", value);
  }
  return text;
}

std::map<std::string, std::string> asked_options(const Result& result) {
  std::map<std::string, std::string> options;
  for (const auto& [name, value] : options_of(asked_words(result))) {
    if (of_a_suite(result) && !name.ends_with("-env")) continue;
    auto& all = options[name];
    all += (all.empty() ? "" : ",") + (value.empty() ? "given" : value);
  }
  return options;
}

std::string launches_in_words(const Result& result, const std::string& launches) {
  if (result.run.contains("left_out")) {
    return fmt::format("a longer max-time, for {} launches", launches);
  }
  return of_a_suite(result)
             ? fmt::format("launches = {} above the first [[case]] of the suite file", launches)
             : "--launches " + launches;
}

std::string more_launches_in_words(const Result& result) {
  return of_a_suite(result) ? "raise launches, above the first [[case]] of the suite file"
                            : "raise --launches";
}

}  // namespace ucxbench
