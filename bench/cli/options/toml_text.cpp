#include "bench/cli/options/toml_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

/// Each part of a key is a table in a table, and toml++ walks over them by calling itself.
constexpr int most_parts = 16;

/// Follows TOML only as far as to tell comments and strings from what is outside of them; that
/// holds up to the first error, where toml++ stops as well.
class TomlText {
 public:
  TomlText(std::string_view text, const std::string& file) : rest_(text), file_(file) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (rest_.starts_with(byte_order_mark)) rest_.remove_prefix(byte_order_mark.size());
  }

  void check() {
    while (!rest_.empty()) {
      const char c = rest_.front();
      if (c == '#') {
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      } else if (c == '"' || c == '\'') {
        skip_string(c);
        line_begins_ = false;
      } else {
        check_outside(c);
      }
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Failure(Exit::usage, fmt::format("{}:{}: not TOML: {}", file_, line_, why));
  }

  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == '\n') ++line_;
    return c;
  }

  void check_ascii(char c) const {
    if (static_cast<unsigned char>(c) < 0x80) return;
    refuse("only ASCII is read outside of comments and of strings of one line");
  }

  void check_outside(char c) {
    check_ascii(c);
    if (c == '[' && line_begins_) check_header();
    take();
    if (c == '.' && ++parts_ > most_parts) {
      refuse(fmt::format("a key of more than {} parts", most_parts));
    }
    if (c == '\n' || c == '=' || c == ',') parts_ = 1;
    line_begins_ = c == '\n' || (line_begins_ && (c == ' ' || c == '\t'));
  }

  /// That the name begins like one.
  void check_header() const {
    auto name = rest_.substr(rest_.starts_with("[[") ? 2 : 1);
    name.remove_prefix(std::min(name.find_first_not_of(" \t"), name.size()));
    const char first = name.empty() ? '\0' : name.front();
    if (std::isalnum(static_cast<unsigned char>(first)) != 0) return;
    if (first == '_' || first == '-' || first == '"' || first == '\'') return;
    refuse("expected a table's name behind the bracket, as in [name]");
  }

  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool escapes = quote == '"';
    if (rest_.starts_with(three)) {
      skip_lines(three, escapes);
      return;
    }
    take();
    while (!rest_.empty() && rest_.front() != '\n') {
      const char c = take();
      if (c == quote) return;
      if (c == '\\' && escapes && !rest_.empty() && rest_.front() != '\n') take();
    }
  }

  void skip_lines(std::string_view three, bool escapes) {
    rest_.remove_prefix(three.size());
    while (!rest_.empty() && !rest_.starts_with(three)) {
      const char c = take();
      check_ascii(c);
      if (c == '\\' && escapes && !rest_.empty()) check_ascii(take());
    }
    rest_.remove_prefix(std::min(three.size(), rest_.size()));
    // Up to two of them may be the string's own, before the three.
    for (int own = 0; own < 2 && rest_.starts_with(three.front()); ++own) take();
  }

  std::string_view rest_;
  const std::string& file_;
  std::size_t line_ = 1;
  int parts_ = 1;  ///< of a key
  bool line_begins_ = true;
};

}  // namespace

void check_toml_text(std::string_view text, const std::string& file) {
  TomlText(text, file).check();
}

}  // namespace ucxbench
