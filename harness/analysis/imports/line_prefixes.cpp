#include "harness/analysis/imports/line_prefixes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "harness/analysis/imports/matrix_paste.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

using Lines = std::vector<std::string_view>;

/// Lines that are empty, or that a prefix alone has left so, say nothing.
template <typename Take>
void each_full_line(const Lines& lines, const Take& take) {
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (!trim_text(lines[at]).empty()) take(lines[at], at);
  }
}

/// Colours and the like: "\x1b[32m".
std::string without_escapes(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    const auto escape = std::min(text.find("\x1b[", at), text.size());
    plain += text.substr(at, escape - at);
    if (escape == text.size()) break;
    const auto end = text.find_first_not_of("0123456789;?", escape + 2);
    at = std::min(end, text.size() - 1) + 1;
  }
  return plain;
}

/// How long the time is that a line begins with, and the blank behind it: of
/// "2026-11-29T00:42:27.1234567Z ", "[00:42:27] "; 0: it begins with none.
std::size_t time_length(std::string_view line) {
  // 0: any digit.
  constexpr std::array<std::string_view, 3> forms = {"0000-00-00T00:00:00", "0000-00-00 00:00:00",
                                                     "00:00:00"};
  const std::size_t begin = line.starts_with('[') ? 1 : 0;
  for (const auto form : forms) {
    const auto is_same = [](char wanted, char there) {
      return wanted == '0' ? is_digit(there) : wanted == there;
    };
    const auto time = line.substr(begin, form.size());
    if (!std::ranges::equal(form, time, is_same)) continue;
    // A fraction, and the zone.
    auto end =
        std::min(line.find_first_not_of("0123456789.,:+-Z", begin + form.size()), line.size());
    if (begin == 1) {
      if (end == line.size() || line[end] != ']') return 0;
      ++end;
    }
    if (end < line.size() && line[end] != ' ' && line[end] != '\t') return 0;
    return std::min(end + 1, line.size());
  }
  return 0;
}

bool take_times(Lines& lines) {
  bool all = true;
  each_full_line(lines, [&](auto line, auto) { all = all && time_length(line) > 0; });
  if (all) {
    each_full_line(lines, [&](auto line, auto at) { lines[at].remove_prefix(time_length(line)); });
  }
  return all;
}

/// Up to the last character that ends a prefix, and the blank behind it.
std::string_view prefix_in(std::string_view same) {
  const auto last = same.find_last_of(":>|]");
  if (last == std::string_view::npos) return {};
  const auto length = last + 1;
  return same.substr(0, length + (length < same.size() && same[length] == ' ' ? 1 : 0));
}

bool take_same_prefix(Lines& lines) {
  std::optional<std::string_view> same;
  std::size_t count = 0;
  each_full_line(lines, [&](auto line, auto) {
    ++count;
    if (!same) same = line;
    const auto end = std::ranges::mismatch(*same, line).in1;
    same = same->substr(0, static_cast<std::size_t>(end - same->begin()));
  });
  const auto prefix = prefix_in(same.value_or(std::string_view()));
  if (count < 2 || prefix.empty()) return false;
  each_full_line(lines, [&](auto line, auto at) { lines[at] = line.substr(prefix.size()); });
  return true;
}

/// "node1:" of a line, which a launcher has put there; empty where it begins with no such word.
std::string_view label_of(std::string_view line) {
  const auto word = line.substr(0, line.find_first_of(" \t\r"));
  const auto end = word.rfind(":");
  const bool alone = end != std::string_view::npos && end + 1 == word.size();
  const auto output = word.find(">:");
  if (output != std::string_view::npos) return word.substr(0, output + 2);
  return alone && word.find_first_of("\"'<{") == std::string_view::npos ? word : std::string_view();
}

/// Whether a topology stands behind a label.
bool is_behind(std::string_view label, const Lines& lines) {
  std::string behind;
  each_full_line(lines, [&](auto line, auto) {
    if (line.starts_with(label)) behind.append(line.substr(label.size())).append("\n");
  });
  const auto begin = trim_text(behind);
  return begin.starts_with('<') || begin.starts_with('{') || has_matrix(behind);
}

void refuse_mixed(const Lines& lines) {
  std::map<std::string_view, std::size_t> counts;
  std::size_t full = 0;
  std::size_t without = 0;
  each_full_line(lines, [&](auto line, auto at) {
    ++full;
    if (const auto label = label_of(line); !label.empty()) {
      ++counts[label];
    } else if (without == 0) {
      without = at + 1;
    }
  });
  // What stands once is a key of a report.
  std::erase_if(counts, [](const auto& label) { return label.second < 2; });
  std::size_t labelled = 0;
  std::vector<std::string_view> labels;
  for (const auto& [label, count] : counts) {
    labelled += count;
    labels.push_back(label);
  }
  if (2 * labelled <= full || !is_behind(labels.front(), lines)) return;
  if (labels.size() == 1) {
    throw Failure(Exit::usage,
                  fmt::format("line {} does not begin with '{}' as the others do: give the text as "
                              "it was printed",
                              without, labels.front()));
  }
  constexpr std::size_t most_labels = 4;
  labels.resize(std::min(labels.size(), most_labels));
  throw Failure(Exit::usage,
                fmt::format("lines of several begin with '{}': give those of one, without that",
                            fmt::join(labels, "', '")));
}

}  // namespace

std::string without_line_prefixes(std::string_view text) {
  const auto plain = without_escapes(text);
  auto lines = split_text(plain, '\n');
  bool taken = false;
  // A time before a label before a quote.
  constexpr int most = 4;
  for (int times = 0; times < most; ++times) {
    const bool time = take_times(lines);
    const bool same = take_same_prefix(lines);
    if (!time && !same) break;
    taken = true;
  }
  if (!taken) {
    refuse_mixed(lines);
    return plain;
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace ucxbench
