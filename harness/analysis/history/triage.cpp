#include "harness/analysis/history/triage.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <optional>
#include <stdexcept>

#include "harness/core/files.hpp"
#include "harness/core/read_json.hpp"
#include "harness/core/text.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr std::array needed = {"id", "state", "reason", "owner", "expiry"};
constexpr const char* optional_member = "day";
constexpr std::uint64_t most_triage_bytes = std::uint64_t{1} << 24U;

using EntryMembers = std::map<std::string, std::string>;

/// What makes the file, from a line on, no list of entries.
class BadYaml : public std::runtime_error {
 public:
  BadYaml(std::size_t line, const std::string& what)
      : std::runtime_error(fmt::format("line {}: {}", line, what)) {}
};

/// Reads the part of YAML in which entries are written.
class EntryReader {
 public:
  explicit EntryReader(const std::string& text) : lines_(split_lines(text)) {}

  std::vector<EntryMembers> entries() {
    std::vector<EntryMembers> found;
    for (; at_ < lines_.size(); ++at_) {
      auto line = lines_[at_];
      rest_ = trim_text(line);
      if (is_over()) continue;
      if (rest_ == "---" && found.empty()) continue;
      const bool begins = rest_ == "-" || rest_.starts_with("- ");
      if (begins) {
        rest_ = trim_text(rest_.substr(1));
        found.emplace_back();
        is_flow_ = false;
      } else if (found.empty() || is_flow_ || line.front() != ' ') {
        fail("it is not a list of entries: begin each with '- id: …'");
      }
      if (begins && rest_.starts_with('{')) {
        is_flow_ = true;
        read_flow(found.back());
      } else if (!is_over()) {
        read_member(found.back(), "");
      }
      if (!is_over()) fail(fmt::format("'{}' is more than one value", std::string(rest_)));
    }
    return found;
  }

 private:
  static std::vector<std::string> split_lines(const std::string& text) {
    std::vector<std::string> lines(1);
    for (const char c : text) {
      if (c == '\n') {
        lines.emplace_back();
      } else if (c != '\r') {
        lines.back() += c;
      }
    }
    return lines;
  }

  [[noreturn]] void fail(const std::string& what) const { throw BadYaml(at_ + 1, what); }

  bool is_over() const { return rest_.empty() || rest_.front() == '#'; }

  /// {name: value, …}, which may go on in the next lines.
  void read_flow(EntryMembers& entry) {
    rest_.remove_prefix(1);
    for (;;) {
      while (is_over()) next_line();
      if (rest_.starts_with('}')) break;
      read_member(entry, ",}");
      while (is_over()) next_line();
      if (rest_.starts_with(',')) rest_ = trim_text(rest_.substr(1));
    }
    rest_ = trim_text(rest_.substr(1));
  }

  void next_line() {
    if (++at_ == lines_.size()) {
      --at_;
      fail("an entry has no end: close it with '}'");
    }
    rest_ = trim_text(lines_[at_]);
  }

  void read_member(EntryMembers& entry, std::string_view ends) {
    const auto colon = rest_.find(':');
    if (colon == std::string_view::npos || colon == 0) {
      fail(fmt::format("'{}' is no member of an entry, which is written as name: value",
                       std::string(rest_)));
    }
    auto name = std::string(trim_text(rest_.substr(0, colon)));
    for (const char quote : {'"', '\''}) {
      if (name.size() > 1 && name.front() == quote && name.back() == quote) {
        name = name.substr(1, name.size() - 2);
      }
    }
    rest_ = trim_text(rest_.substr(colon + 1));
    auto value = read_value(ends);
    if (!entry.emplace(name, std::move(value)).second) {
      fail(fmt::format("the key '{}' stands twice in one entry", name));
    }
  }

  std::string read_value(std::string_view ends) {
    if (is_over()) return "";
    const char first = rest_.front();
    if (first == '\'' || first == '"') return read_quoted(first);
    if (std::string_view("*&!|>[{%@`").find(first) != std::string_view::npos) {
      fail(fmt::format("'{}' is not a text on one line: quote what begins with {}",
                       std::string(rest_), first));
    }
    std::size_t end = 0;
    while (end < rest_.size() && ends.find(rest_[end]) == std::string_view::npos &&
           !rest_.substr(end).starts_with(" #") && !rest_.substr(end).starts_with(": ")) {
      ++end;
    }
    const auto value = std::string(trim_text(rest_.substr(0, end)));
    rest_ = trim_text(rest_.substr(end));
    return value == "~" || value == "null" ? "" : value;
  }

  std::string read_quoted(char quote) {
    std::size_t end = 1;
    for (; end < rest_.size(); ++end) {
      if (rest_[end] == '\\' && quote == '"') {
        ++end;
      } else if (rest_[end] == quote) {
        if (quote == '"' || end + 1 == rest_.size() || rest_[end + 1] != quote) break;
        ++end;
      }
    }
    if (end >= rest_.size()) fail(fmt::format("'{}' has no closing quote", std::string(rest_)));
    const auto quoted = rest_.substr(0, end + 1);
    std::string value;
    if (quote == '"') {
      const auto text = json_or_null(quoted);
      if (!text.is_string()) fail(fmt::format("{} is no quoted text", std::string(quoted)));
      value = text.get<std::string>();
    } else {
      for (std::size_t at = 1; at < end; ++at) {
        value += quoted[at];
        if (quoted[at] == quote) ++at;
      }
    }
    rest_ = trim_text(rest_.substr(end + 1));
    return value;
  }

  std::vector<std::string> lines_;
  std::size_t at_ = 0;
  std::string_view rest_{};  ///< of the line at_
  bool is_flow_ = false;     ///< the newest entry was written between braces
};

bool is_day(const std::string& text) {
  std::tm time{};
  const char* const end = ::strptime(text.c_str(), "%Y-%m-%d", &time);
  return text.size() == 10 && end != nullptr && *end == '\0';
}

/// What is wrong with an entry, and what would be right; empty for nothing.
std::string flaw_in(const EntryMembers& entry) {
  const auto all = join({needed.begin(), needed.end()}, ", ");
  std::vector<std::string> missing, unknown;
  for (const char* name : needed) {
    const auto found = entry.find(name);
    if (found == entry.end() || found->second.empty()) missing.emplace_back(name);
  }
  if (!missing.empty()) return fmt::format("has no {}: an entry has {}", join(missing, ", "), all);
  for (const auto& [name, value] : entry) {
    if (name != optional_member && std::ranges::find(needed, name) == needed.end()) {
      unknown.push_back(name);
    }
  }
  if (!unknown.empty()) {
    return fmt::format("has {}: an entry has {}, and may have {}", join(unknown, ", "), all,
                       optional_member);
  }
  if (!value_of(triage_states, entry.at("state"))) {
    return fmt::format("has the state '{}': one of {}", entry.at("state"),
                       join(names_in(triage_states), ", "));
  }
  for (const char* name : {"expiry", optional_member}) {
    const auto found = entry.find(name);
    if (found == entry.end() || is_day(found->second)) continue;
    return fmt::format("has the {} '{}': a day such as 2027-01-31", name, found->second);
  }
  return "";
}

}  // namespace

bool TriageEntry::covers(const std::string& started) const {
  return day.empty() || started.substr(0, day.size()) <= day;
}

bool TriageEntry::excuses(const std::string& started) const {
  return (state == TriageState::accepted || state == TriageState::ignored) && covers(started);
}

const TriageEntry* Triage::entry_for(const std::string& row) {
  const TriageEntry* found = nullptr;
  for (auto& entry : entries) {
    if (::fnmatch(entry.id.c_str(), row.c_str(), FNM_NOESCAPE) != 0) continue;
    entry.used = true;
    if (found == nullptr && !entry.expired) found = &entry;
  }
  return found;
}

Triage parse_triage(const std::string& text, const std::string& today) {
  Triage triage;
  std::vector<EntryMembers> entries;
  try {
    entries = EntryReader(text).entries();
  } catch (const BadYaml& bad) {
    triage.problems.push_back(fmt::format("cannot be used: {}", bad.what()));
    return triage;
  }
  for (std::size_t at = 0; at < entries.size(); ++at) {
    const auto& of = entries[at];
    if (const auto flaw = flaw_in(of); !flaw.empty()) {
      triage.problems.push_back(fmt::format("entry {} {}", at + 1, flaw));
      continue;
    }
    const auto day = of.find(optional_member);
    triage.entries.push_back({.id = of.at("id"),
                              .state = *value_of(triage_states, of.at("state")),
                              .reason = of.at("reason"),
                              .owner = of.at("owner"),
                              .expiry = of.at("expiry"),
                              .day = day == of.end() ? "" : day->second,
                              .expired = of.at("expiry") < today});
  }
  return triage;
}

Triage read_triage(const std::filesystem::path& folder, const std::string& today) {
  const auto file = folder / Triage::file_name;
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return {};
  try {
    return parse_triage(read_given(file, most_triage_bytes, "give a list of entries"), today);
  } catch (const Failure& failure) {
    return {.problems = {failure.what()}};
  }
}

}  // namespace ucxbench
