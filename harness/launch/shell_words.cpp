#include "harness/launch/shell_words.hpp"

#include <fmt/format.h>

#include "harness/core/failure.hpp"

namespace ucxbench {

std::vector<std::string> split_shell_words(std::string_view text) {
  constexpr std::string_view blanks = " \t\n";
  constexpr std::string_view escapable_in_quotes = "\\\"$`";
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && blanks.find(c) != std::string_view::npos) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'') {
      if (i + 1 == text.size()) {
        throw Failure(Exit::usage, fmt::format("`{}` ends with a lone backslash", text));
      }
      const char next = text[++i];
      if (quote == '"' && escapable_in_quotes.find(next) == std::string_view::npos) {
        words.back() += c;
      }
      words.back() += next;
    } else {
      words.back() += c;
    }
  }
  if (quote != 0) {
    throw Failure(Exit::usage,
                  fmt::format("`{}` opens a quote {} that it never closes", text, quote));
  }
  return words;
}

std::vector<std::string> wrap_command(std::string_view wrap, int rank,
                                      const std::vector<std::string>& command) {
  constexpr std::string_view placeholder = "{rank}";
  const std::string number = std::to_string(rank);
  auto words = split_shell_words(wrap);
  for (auto& word : words) {
    for (auto at = word.find(placeholder); at != std::string::npos;
         at = word.find(placeholder, at + number.size())) {
      word.replace(at, placeholder.size(), number);
    }
  }
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

}  // namespace ucxbench
