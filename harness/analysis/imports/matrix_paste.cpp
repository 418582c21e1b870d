#include "harness/analysis/imports/matrix_paste.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "harness/core/text.hpp"
#include "harness/topology/graph.hpp"

namespace ucxbench {
namespace {

using Texts = std::set<std::string, std::less<>>;

struct Replacement {
  std::string_view from;
  std::string_view to;
};

/// What editors, browsers and Markdown put in place of blanks, hyphens and the escape character.
/// Emphasis and the bars of tables are blanks.
constexpr std::array<Replacement, 19> replacements = {{
    {"\u00a0", " "}, {"\u2002", " "}, {"\u2003", " "}, {"\u2007", " "}, {"\u2009", " "},
    {"\u202f", " "}, {"\u3000", " "}, {"\u200b", ""},  {"\ufeff", ""},  {"\u2010", "-"},
    {"\u2011", "-"}, {"\u2013", "-"}, {"|", " "},      {"\u2502", " "}, {"*", " "},
    {"```", "```"},  {"`", " "},      {"\\_", "_"},    {"&nbsp;", " "},
}};

/// How long the escape is that text begins with; 0: it begins with none. The escape character may
/// be spelled; where it was lost, only those of colours and underlines ("[4m") are taken for one.
std::size_t escape_length(std::string_view text) {
  constexpr std::array<std::string_view, 5> spellings = {"\x1b", "^[", "\\x1b", "\\u001b", "\\033"};
  const auto* spelling = std::find_if(spellings.begin(), spellings.end(),
                                      [&](auto known) { return text.starts_with(known); });
  auto end = spelling == spellings.end() ? 0 : spelling->size();
  const bool real = text.starts_with('\x1b');
  if (end == text.size()) return end;
  if (text[end] != '[' && !(real && text[end] == '(')) return real ? end + 1 : 0;
  ++end;
  while (end < text.size() && (is_digit(text[end]) || text[end] == ';')) ++end;
  if (!real && (end == text.size() || text[end] != 'm')) return 0;
  return std::min(end + 1, text.size());
}

/// Empty where text begins with none of them.
const Replacement* replacement_at(std::string_view text) {
  const auto* found = std::find_if(replacements.begin(), replacements.end(),
                                   [&](const auto& known) { return text.starts_with(known.from); });
  return found == replacements.end() ? nullptr : found;
}

std::string plain_text(std::string_view line) {
  // What replacements and escapes begin with, and control characters.
  constexpr std::string_view special =
      "\xc2\xe2\xe3\xef|*`\\&^[\x01\x02\x03\x04\x05\x06\x07\b\t\v\f\r\x0e\x0f\x10\x11\x12\x13\x14"
      "\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f";
  std::string text;
  while (!line.empty()) {
    std::size_t length = line.find_first_of(special);
    if (length > 0) {
      length = std::min(length, line.size());
      text += line.substr(0, length);
    } else if (const auto* known = replacement_at(line); known != nullptr) {
      length = known->from.size();
      text += known->to;
    } else if (const auto escape = escape_length(line); escape > 0) {
      length = escape;
    } else {
      length = 1;
      text += std::iscntrl(static_cast<unsigned char>(line.front())) != 0 ? ' ' : line.front();
    }
    line.remove_prefix(length);
  }
  return text;
}

/// Of a line that may be quoted ("> ") in a mail or an issue.
Words words_of(std::string_view line) {
  Words words;
  for (auto begin = line.find_first_not_of(' '); begin < line.size();) {
    const auto end = std::min(line.find(' ', begin), line.size());
    const auto word = line.substr(begin, end - begin);
    if (!words.empty() || word != ">") words.emplace_back(word);
    begin = line.find_first_not_of(' ', end);
  }
  return words;
}

/// "0-31,64-95", "0", "N/A": what stands behind the cells of a row.
bool is_affinity(std::string_view word) {
  if (word == "N/A") return true;
  return !word.empty() && is_digit(word.front()) &&
         word.find_first_not_of("0123456789,-") == std::string_view::npos;
}

/// The lengths of the classes that text begins with: of "NV18X" those of NV1 and NV18.
std::vector<std::size_t> classes_at(std::string_view text) {
  std::vector<std::size_t> lengths;
  constexpr std::size_t longest = 4;
  for (std::size_t length = 1; length <= std::min(longest, text.size()); ++length) {
    if (is_matrix_class(text.substr(0, length))) lengths.push_back(length);
  }
  return lengths;
}

/// Of the headers of the columns behind the cells.
constexpr std::array<std::string_view, 5> column_words = {"CPU", "NUMA", "GPU", "Affinity", "ID"};

bool is_column_word(std::string_view word) {
  return std::find(column_words.begin(), column_words.end(), word) != column_words.end();
}

constexpr std::size_t longest_name = 32;

/// The lengths of the names and words of headers that text begins with.
std::vector<std::size_t> names_at(std::string_view text, const Texts& names) {
  std::vector<std::size_t> lengths;
  for (const auto word : column_words) {
    if (text.starts_with(word)) lengths.push_back(word.size());
  }
  for (std::size_t length = 1; length <= std::min(longest_name, text.size()); ++length) {
    if (names.contains(text.substr(0, length))) lengths.push_back(length);
  }
  for (const std::string_view word : {"GPU", "NIC"}) {
    if (!text.starts_with(word)) continue;
    const auto end = std::min(text.find_first_not_of("0123456789", word.size()), text.size());
    const auto name = text.substr(0, end);
    if (end > word.size() && !names.contains(name)) lengths.push_back(end);
  }
  return lengths;
}

/// The parts of a word of which each is one that `lengths_at` finds; empty where there is no way or
/// more than one to part it. `is_last` says what else may stand at the end.
template <typename LengthsAt, typename IsLast>
Words parts_of(std::string_view word, LengthsAt lengths_at, IsLast is_last) {
  struct Ways {
    std::size_t count = 0;  ///< up to 2, which is too many
    std::size_t length = 0;
  };
  constexpr std::size_t longest = 512;
  if (word.size() > longest) return {};
  std::vector<Ways> ways(word.size() + 1);
  ways[word.size()].count = 1;
  for (auto at = word.size(); at-- > 0;) {
    const auto rest = word.substr(at);
    const auto add = [&](std::size_t length) {
      if (ways[at + length].count == 0) return;
      ways[at].count = std::min<std::size_t>(2, ways[at].count + ways[at + length].count);
      ways[at].length = length;
    };
    for (const auto length : lengths_at(rest)) add(length);
    if (at > 0 && is_last(rest)) add(rest.size());
  }
  Words parts;
  if (ways.front().count != 1) return parts;
  for (std::size_t at = 0; at < word.size(); at += ways[at].length) {
    parts.emplace_back(word.substr(at, ways[at].length));
  }
  return parts;
}

/// The cells that a word is of, and an affinity behind them; empty for any other word.
Words cells_of(std::string_view word) {
  if (is_matrix_class(word)) return {std::string(word)};
  constexpr std::string_view beginnings = "XNPS";
  if (beginnings.find(word.front()) == std::string_view::npos) return {};
  return parts_of(word, classes_at, is_affinity);
}

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

class Mender {
 public:
  explicit Mender(std::vector<PastedLine> lines) : lines_(std::move(lines)) {
    for (const auto& [number, words] : lines_) {
      if (words.size() > 1 && words[0].size() <= longest_name && is_matrix_name(words[0]) &&
          !cells_of(words[1]).empty()) {
        names_.insert(words[0]);
      }
    }
  }

  std::vector<PastedLine> mend() {
    std::size_t at = 0;
    while (at < lines_.size() && !is_header(at)) ++at;
    if (at == lines_.size()) return std::move(lines_);
    std::vector<PastedLine> mended(lines_.begin(),
                                   lines_.begin() + static_cast<std::ptrdiff_t>(at));
    for (bool header = true; at < lines_.size(); header = false) {
      auto [words, count] = header ? mend_header(at) : mend_row(at);
      mended.push_back({lines_[at].number, std::move(words)});
      at += count;
    }
    return mended;
  }

 private:
  Words split_header(const Words& words) const {
    Words split;
    for (const auto& word : words) {
      const auto parts =
          is_gpu_name(word)
              ? Words()
              : parts_of(
                    word, [&](std::string_view text) { return names_at(text, names_); },
                    [](std::string_view) { return false; });
      append(split, parts.empty() || names_.contains(word) ? Words{word} : parts);
    }
    return split;
  }

  /// The words of the line that is `distance` lines below, where no empty one is between.
  const Words* below(std::size_t at, std::size_t distance) const {
    const bool is_next =
        at + distance < lines_.size() &&
        lines_[at + distance].number == lines_[at].number + static_cast<int>(distance);
    return is_next ? &lines_[at + distance].words : nullptr;
  }

  struct Mended {
    Words words;
    std::size_t lines = 1;  ///< that are in it
  };

  bool is_header(std::size_t at) const {
    const auto& front = lines_[at].words.front();
    return front.size() > 3 && front.starts_with("GPU") && is_digit(front[3]) &&
           is_matrix_header(split_header(lines_[at].words));
  }

  Mended mend_header(std::size_t at) {
    auto header = split_header(lines_[at].words);
    std::size_t lines = 1;
    while (const auto* next = below(at, lines)) {
      const auto rest = split_header(*next);
      // The rest of a header has names that its beginning has not, and no cells.
      const auto fits = [&](const std::string& word) {
        return is_column_word(word) ||
               ((names_.contains(word) || is_gpu_name(word)) && !is_column_word(header.back()) &&
                std::find(header.begin(), header.end(), word) == header.end());
      };
      if (!std::all_of(rest.begin(), rest.end(), fits)) break;
      append(header, rest);
      ++lines;
    }
    columns_.assign(header.begin(), std::find_if_not(header.begin(), header.end(), is_matrix_name));
    affinities_ = static_cast<std::size_t>(std::count(header.begin(), header.end(), "CPU") +
                                           std::count(header.begin(), header.end(), "NUMA"));
    return {std::move(header), lines};
  }

  bool is_column(std::string_view name) const {
    return std::find(columns_.begin(), columns_.end(), name) != columns_.end();
  }

  /// A row's name off the cell that it has grown together with.
  void split_label(Words& words) const {
    const std::string front = words.front();
    if (is_column(front) || !is_matrix_name(front)) return;
    for (const auto& name : columns_) {
      if (!front.starts_with(name)) continue;
      auto cells = cells_of(std::string_view(front).substr(name.size()));
      if (cells.empty()) continue;
      words.front() = name;
      words.insert(words.begin() + 1, cells.begin(), cells.end());
      return;
    }
  }

  static std::size_t count_cells(const Words& words) {
    return static_cast<std::size_t>(
        std::find_if_not(words.begin() + 1, words.end(), is_matrix_class) - words.begin() - 1);
  }

  Mended mend_row(std::size_t at) const {
    auto words = lines_[at].words;
    split_label(words);
    if (!is_column(words.front()) || words.size() < 2 || cells_of(words[1]).empty()) {
      return {std::move(words)};
    }
    auto row = words;
    std::size_t lines = 1;
    if (count_cells(row) < columns_.size()) {
      row = split_cells(row, 1);
      while (count_cells(row) < columns_.size()) {
        const auto* next = below(at, lines);
        if (next == nullptr || cells_of(next->front()).empty()) return {std::move(words)};
        append(row, split_cells(*next, 0));
        ++lines;
      }
    }
    const auto* next = below(at, lines);
    const bool lacks = is_gpu_name(row.front()) && row.size() < 1 + columns_.size() + affinities_;
    if (next != nullptr && lacks && std::all_of(next->begin(), next->end(), is_affinity)) {
      append(row, *next);
      ++lines;
    }
    if (count_cells(row) != columns_.size()) return {std::move(words)};
    return {std::move(row), lines};
  }

  static Words split_cells(const Words& words, std::size_t begin) {
    Words split(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(begin));
    for (auto at = begin; at < words.size(); ++at) {
      const auto cells = cells_of(words[at]);
      append(split, cells.empty() ? Words{words[at]} : cells);
    }
    return split;
  }

  std::vector<PastedLine> lines_;
  Texts names_;    ///< of rows
  Words columns_;  ///< the devices of the header
  std::size_t affinities_ = 0;
};

}  // namespace

bool is_gpu_name(std::string_view word) {
  return word.size() > 3 && word.starts_with("GPU") &&
         std::all_of(word.begin() + 3, word.end(), is_digit);
}

bool is_matrix_name(std::string_view word) {
  return std::isalpha(static_cast<unsigned char>(word.front())) != 0 &&
         std::any_of(word.begin(), word.end(), is_digit) && !parse_path_class(word);
}

bool is_matrix_class(std::string_view word) {
  const auto path_class = parse_path_class(word);
  return path_class && path_class->distance <= Distance::sys;
}

bool is_matrix_header(const Words& words) {
  if (words.empty() || !is_gpu_name(words.front())) return false;
  const auto names = std::find_if_not(words.begin(), words.end(), is_matrix_name);
  return names == words.end() || *names == "CPU" || *names == "NUMA" || *names == "GPU";
}

std::vector<PastedLine> pasted_lines(std::string_view text) {
  std::vector<PastedLine> lines;
  int number = 0;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    ++number;
    auto words = words_of(plain_text(text.substr(begin, end - begin)));
    if (!words.empty()) lines.push_back({number, std::move(words)});
    begin = end + 1;
  }
  return Mender(std::move(lines)).mend();
}

bool has_matrix(std::string_view text) {
  const auto lines = pasted_lines(text);
  return std::any_of(lines.begin(), lines.end(),
                     [](const auto& line) { return is_matrix_header(line.words); });
}

}  // namespace ucxbench
