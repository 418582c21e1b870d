#include "bench/cli/options/help.hpp"

#include <fmt/format.h>

#include <memory>
#include <string_view>

#include "harness/report/text.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t description_column = 30;  // as CLI11 has it
constexpr std::string_view first_group = "Options";

class Formatter : public CLI::Formatter {
 public:
  std::string make_group(std::string group, bool positional,
                         std::vector<const CLI::Option*> options) const override {
    const bool first = positional || group == first_group;
    // What needs no name is listed once.
    if (!positional)
      std::erase_if(options, [](const auto* option) { return option->get_positional(); });
    if (options.empty()) return "";
    const auto text = CLI::Formatter::make_group(std::move(group), positional, std::move(options));
    return first ? text : text.substr(1);  // one empty line between groups
  }

  // Each option has its twin in the environment: make_footer says so, once.
  std::string make_option_opts(const CLI::Option* option) const override {
    auto text = CLI::Formatter::make_option_opts(option);
    const auto twin = fmt::format(" (Env:{})", option->get_envname());
    if (const auto at = text.find(twin); at != std::string::npos) text.erase(at, twin.size());
    const auto name = " " + option->get_name(true);
    return option->get_positional() && text == name ? "" : text;
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    return lines(CLI::Formatter::make_option_desc(option));
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return fmt::format("  {:<{}}{}\n", command->get_name(), description_column - 2,
                       lines(command->get_description()));
  }

  std::string make_footer(const CLI::App* app) const override {
    const auto text = app->get_footer();
    return text + (text.empty() ? "" : "\n") +
           "An option that is not given may stand in the environment: UCXBENCH_SIZES for "
           "--sizes.\n" +
           (app->get_parent() == nullptr
                ? ""
                : "Options of every command (--quiet, --verbose, --config …): ucx-bench --help\n");
  }

 private:
  static std::string lines(const std::string& text) {
    auto broken = wrapped(text, "", page_width() - description_column);
    broken.pop_back();
    return broken;
  }
};

}  // namespace

void format_help(CLI::App& app) { app.formatter(std::make_shared<Formatter>()); }

void add_examples(CLI::App& command, const std::vector<std::string>& examples) {
  std::string text = examples.size() == 1 ? "Example:\n" : "Examples:\n";
  for (const auto& example : examples) text += fmt::format("  ucx-bench {}\n", example);
  command.footer(text);
}

}  // namespace ucxbench
