#include "harness/core/secret.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

using std::string_view;

constexpr string_view hidden = "***";
constexpr string_view blanks = " \t\n";

constexpr std::array<string_view, 6> telling = {"token",      "password", "passwd",
                                                "passphrase", "secret",   "credential"};

bool has_key(string_view name) {
  constexpr string_view of_infiniband = "prlm";
  for (auto at = name.find("key"); at != string_view::npos; at = name.find("key", at + 1)) {
    const bool one_letter = at == 1 || (at > 1 && name[at - 2] == '_');
    if (!one_letter || of_infiniband.find(name[at - 1]) == string_view::npos) return true;
  }
  return false;
}

/// "--token", "--api-key"; "--token-file" and "--tokens" are something else.
bool option_names_secret(string_view option) {
  auto name = lower_case(option);
  name = name.substr(std::min(name.find_last_of('-') + 1, name.size()));
  return names_secret(name) && !name.ends_with('s');
}

std::string hide_users_of_urls(string_view text) {
  constexpr string_view mark = "://";
  std::string out;
  for (;;) {
    const auto begin = text.find(mark);
    if (begin == string_view::npos) return out.append(text);
    out.append(text.substr(0, begin + mark.size()));
    text.remove_prefix(begin + mark.size());
    const auto end = std::min(text.find_first_of("/?# \t\n'\""), text.size());
    if (const auto at = text.substr(0, end).rfind('@'); at != string_view::npos) {
      out.append(hidden);
      text.remove_prefix(at);
    }
  }
}

/// Goes on from one word to the next: the value of an option may be there.
class Hiding {
 public:
  /// A word of a command line, which may have several of another command. Where it begins with a
  /// secret, that is all of it.
  std::string word(string_view text) {
    if (hides_next_) {
      hides_next_ = false;
      return std::string(hidden);
    }
    const auto begin = before_secret(text);
    if (!begin.empty() && begin.find_first_of(blanks) == string_view::npos) {
      return std::string(begin).append(hidden);
    }
    std::string out;
    while (!text.empty()) {
      const auto end = std::min(text.find_first_of(blanks), text.size());
      out += part(text.substr(0, end));
      text.remove_prefix(end);
      const auto next = std::min(text.find_first_not_of(blanks), text.size());
      out.append(text.substr(0, next));
      text.remove_prefix(next);
    }
    quote_ = 0;
    return out;
  }

 private:
  /// What `text` begins with up to its secret: "NAME=", "--name=", "--tag=NAME="; empty without
  /// one.
  static string_view before_secret(string_view text) {
    for (std::size_t begin = 0;;) {
      const auto equals = text.find('=', begin);
      if (equals == string_view::npos) return {};
      auto name = text.substr(begin, equals - begin);
      name.remove_prefix(std::min(name.find_first_not_of("'\""), name.size()));
      const bool option = name.starts_with('-');
      if (option ? option_names_secret(name) : names_secret(name))
        return text.substr(0, equals + 1);
      if (!option) return {};
      begin = equals + 1;
    }
  }

  /// A secret in quotes may have several parts.
  std::string hide(string_view value) {
    if (value.starts_with('\'') || value.starts_with('"')) quote_ = value.front();
    if (quote_ != 0 && value.size() > 1 && value.ends_with(quote_)) quote_ = 0;
    return std::string(hidden);
  }

  std::string part(string_view text) {
    if (quote_ != 0) {
      if (text.ends_with(quote_)) quote_ = 0;
      return "";
    }
    if (hides_next_ && !text.empty()) {
      hides_next_ = false;
      return hide(text);
    }
    const auto begin = before_secret(text);
    if (!begin.empty()) return std::string(begin) + hide(text.substr(begin.size()));
    hides_next_ =
        text.starts_with('-') && text.find('=') == string_view::npos && option_names_secret(text);
    return hide_users_of_urls(text);
  }

  bool hides_next_ = false;
  char quote_ = 0;  ///< that a secret began with and that has not come again
};

}  // namespace

bool names_secret(string_view variable) {
  const auto name = lower_case(variable);
  return has_key(name) || std::ranges::any_of(telling, [&](string_view word) {
           return name.find(word) != std::string::npos;
         });
}

std::map<std::string, std::string> without_secrets(std::map<std::string, std::string> variables) {
  std::erase_if(variables, [](const auto& variable) { return names_secret(variable.first); });
  for (auto& [name, value] : variables) value = hide_users_of_urls(value);
  return variables;
}

std::vector<std::string> without_secrets(const std::vector<std::string>& words) {
  Hiding hiding;
  std::vector<std::string> out;
  out.reserve(words.size());
  for (const auto& word : words) out.push_back(hiding.word(word));
  return out;
}

}  // namespace ucxbench
