#include "harness/analysis/imports/matrix_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <set>

#include "harness/analysis/imports/import.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t most_devices = 512;

using Words = std::vector<std::string_view>;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Without ANSI escapes (ESC [ … letter, ESC ( letter) and other control characters.
std::string plain(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      if (i + 1 < line.size() && (line[i + 1] == '[' || line[i + 1] == '(')) ++i;
      while (i + 1 < line.size() && (is_digit(line[i + 1]) || line[i + 1] == ';')) ++i;
      ++i;  // the letter
    } else {
      text += std::iscntrl(static_cast<unsigned char>(line[i])) != 0 ? ' ' : line[i];
    }
  }
  return text;
}

/// Of a line that may be quoted ("> ") in a mail or an issue.
Words words_of(std::string_view line) {
  Words words;
  for (auto begin = line.find_first_not_of(' '); begin < line.size();) {
    const auto end = std::min(line.find(' ', begin), line.size());
    const auto word = line.substr(begin, end - begin);
    if (!words.empty() || word != ">") words.push_back(word);
    begin = line.find_first_not_of(' ', end);
  }
  return words;
}

/// "GPU0", "mlx5_0", "ib2", "NIC11", "rocep1s0": a letter first, a digit somewhere.
bool is_device_name(std::string_view word) {
  return std::isalpha(static_cast<unsigned char>(word.front())) != 0 &&
         std::any_of(word.begin(), word.end(), is_digit) && !parse_path_class(word);
}

bool is_gpu_name(std::string_view word) {
  return word.size() > 3 && word.starts_with("GPU") &&
         std::all_of(word.begin() + 3, word.end(), is_digit);
}

bool is_path_class(std::string_view word) {
  const auto path_class = parse_path_class(word);
  return path_class && path_class->distance <= Distance::sys;
}

bool begins_with(const Words& words, const Words& label) {
  return words.size() >= label.size() && std::equal(label.begin(), label.end(), words.begin());
}

/// What stands behind the matrix's cells.
enum class Column { cpus, numa_node, other };

std::vector<Column> columns_of(Words words) {
  std::vector<Column> columns;
  while (!words.empty()) {
    std::size_t length = 1;
    auto column = Column::other;
    if (begins_with(words, {"CPU", "Affinity"})) {
      column = Column::cpus;
      length = 2;
    } else if (words.front() == "NUMA") {
      column = Column::numa_node;
      length = words.size() > 1 && words[1] == "Affinity" ? 2 : 1;
    } else if (begins_with(words, {"GPU", "NUMA", "ID"})) {
      length = 3;
    }
    columns.push_back(column);
    words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(length));
  }
  return columns;
}

class MatrixReader {
 public:
  Matrix read(std::string_view text) {
    std::size_t begin = 0;
    while (begin <= text.size()) {
      const auto end = std::min(text.find('\n', begin), text.size());
      ++line_;
      const auto line = plain(text.substr(begin, end - begin));
      if (const auto words = words_of(line); !words.empty()) read_line(words);
      begin = end + 1;
    }
    if (matrix_.devices.empty()) {
      throw Failure(Exit::usage,
                    "no matrix of nvidia-smi topo -m in it: no line of GPU0 GPU1 … to begin one");
    }
    if (rows_.empty()) refuse_at(header_line_, "the matrix has no rows");
    add_names();
    if (affinities_line_ > 0 && affinity_rows_.empty()) {
      matrix_.warnings.push_back(
          fmt::format("line {}: CPU Affinity, but no rows of it", affinities_line_));
    }
    for (auto& doubt : doubts_of(matrix_)) matrix_.warnings.push_back(std::move(doubt));
    return std::move(matrix_);
  }

 private:
  [[noreturn]] static void refuse_at(int line, const std::string& what) {
    throw Failure(Exit::usage, fmt::format("line {}: {}", line, what));
  }
  [[noreturn]] void refuse(const std::string& what) const { refuse_at(line_, what); }

  void read_line(const Words& words) {
    read_legend(words);
    refuse_second_matrix(words);
    // A name alone is what a cut-off row leaves, or the header of a single GPU.
    const bool rest_of_row = words.size() == 1 && matrix_.devices.size() > 1;
    if (is_header(words) && !rest_of_row) {
      // What follows a second one is another matrix, such as that of topo -p2p.
      if (matrix_.devices.empty()) {
        read_header(words);
      } else {
        state_ = State::done;
      }
    } else if (begins_with(words, {"CPU", "Affinity"}) && !rows_.empty()) {
      state_ = State::affinities;
      affinities_line_ = line_;
      columns_ = columns_of(words);
    } else if (const auto row = index_of(words.front()); row < matrix_.devices.size()) {
      read_device_line(row, {words.begin() + 1, words.end()});
    } else if (is_open() && words.size() > 1 && is_device_name(words[0]) &&
               is_path_class(words[1])) {
      refuse(fmt::format("row {} is of no column of the header, line {}", words[0], header_line_));
    } else if (state_ == State::rows && !rows_.empty()) {
      state_ = State::between;
    }
  }

  /// Of another machine: its names would be taken for this one's. That of topo -p2p has no classes.
  void refuse_second_matrix(const Words& words) const {
    const auto is_other = [](std::string_view word) { return is_path_class(word) && word != "X"; };
    if (state_ == State::done && words.size() > 1 && is_device_name(words.front()) &&
        is_path_class(words[1]) && std::any_of(words.begin() + 1, words.end(), is_other)) {
      refuse(fmt::format("a second matrix, the first begins at line {}: give one machine's alone",
                         header_line_));
    }
  }

  bool is_open() const { return state_ == State::rows || state_ == State::between; }
  void warn(const std::string& what) {
    matrix_.warnings.push_back(fmt::format("line {}: {}", line_, what));
  }

  /// "NIC0: mlx5_0", and of nvidia-smi -L "GPU 0: Tesla V100-SXM2-16GB (UUID: …)".
  void read_legend(const Words& words) {
    if (words.size() == 2 && words[0].starts_with("NIC") && words[0].ends_with(':')) {
      const std::string name(words[0].substr(0, words[0].size() - 1));
      if (!aliases_.emplace(name, words[1]).second) {
        warn(fmt::format("a second {} in the legend: left out", name));
      }
    } else if (words.size() > 2 && words[0] == "GPU" && words[1].ends_with(':')) {
      const auto end = std::find_if(words.begin() + 2, words.end(), [](std::string_view word) {
        return word.starts_with("(UUID");
      });
      if (end == words.end()) return;
      models_[fmt::format("GPU{}", words[1].substr(0, words[1].size() - 1))] =
          fmt::format("{}", fmt::join(words.begin() + 2, end, " "));
    }
  }

  static bool is_header(const Words& words) {
    if (!is_gpu_name(words.front())) return false;
    const auto names = std::find_if_not(words.begin(), words.end(), is_device_name);
    return names == words.end() || *names == "CPU" || *names == "NUMA" ||
           (*names == "GPU" && names != words.begin());
  }

  void read_header(const Words& words) {
    const auto names = std::find_if_not(words.begin(), words.end(), is_device_name);
    const auto count = static_cast<std::size_t>(names - words.begin());
    if (count > most_devices) refuse(fmt::format("more than {} devices", most_devices));
    for (auto name = words.begin(); name != names; ++name) {
      if (index_of(*name) < matrix_.devices.size()) refuse(fmt::format("two columns {}", *name));
      MatrixDevice device;
      device.name = *name;
      matrix_.devices.push_back(std::move(device));
    }
    columns_ = columns_of({names, words.end()});
    for (auto word = names; word != words.end(); ++word) {
      constexpr std::array<std::string_view, 5> known = {"CPU", "NUMA", "GPU", "Affinity", "ID"};
      if (std::find(known.begin(), known.end(), *word) == known.end()) {
        warn(fmt::format("'{}' is not a column of nvidia-smi's: left out", *word));
      }
    }
    header_line_ = line_;
    state_ = State::rows;
  }

  std::size_t index_of(std::string_view name) const {
    const auto found = std::find_if(matrix_.devices.begin(), matrix_.devices.end(),
                                    [&](const auto& device) { return device.name == name; });
    return static_cast<std::size_t>(found - matrix_.devices.begin());
  }

  void read_device_line(std::size_t row, const Words& words) {
    if (state_ == State::affinities) {
      if (!words.empty() && !affinity_rows_.insert(row).second) {
        warn(fmt::format("a second row {}: the second one counts", matrix_.devices[row].name));
      }
      read_affinity(row, words);
    } else if (state_ == State::rows ||
               (state_ == State::between && !words.empty() && is_path_class(words.front()))) {
      state_ = State::rows;
      read_row(row, words);
    }
  }

  void read_row(std::size_t row, const Words& words) {
    const auto& name = matrix_.devices[row].name;
    const auto count = matrix_.devices.size();
    if (!rows_.insert(row).second) refuse(fmt::format("a second row {}", name));
    for (std::size_t column = 0; column < count; ++column) {
      if (column == words.size()) {
        refuse(
            fmt::format("the matrix is cut off: row {} has {} of {} cells", name, column, count));
      }
      read_cell(row, column, words[column]);
    }
    if (words.size() > count && is_path_class(words[count])) {
      refuse(fmt::format("row {} has more cells than the header, line {}, has columns: {}", name,
                         header_line_, count));
    }
    matrix_.devices[row].line = line_;
    read_affinity(row, {words.begin() + static_cast<std::ptrdiff_t>(count), words.end()});
  }

  void read_cell(std::size_t row, std::size_t column, std::string_view word) {
    if (!is_path_class(word)) {
      refuse(word.starts_with("NV")
                 ? fmt::format("'{}': expected NV and the number of NVLinks, 1 or more", word)
                 : fmt::format("unknown class '{}': expected X, NV#, PIX, PXB, PHB, NODE or SYS",
                               word));
    }
    const auto path_class = *parse_path_class(word);
    const auto& a = matrix_.devices[row].name;
    const auto& b = matrix_.devices[column].name;
    if ((path_class.distance == Distance::self) != (row == column)) {
      refuse(fmt::format("'{}' from {} to {}: X belongs where row and column are the same", word, a,
                         b));
    }
    if (row == column) return;
    if (path_class.distance == Distance::nvlink &&
        !(matrix_.devices[row].is_gpu() && matrix_.devices[column].is_gpu())) {
      refuse(fmt::format("'{}' from {} to {}: nvidia-smi says NV of two GPUs only", word, a, b));
    }
    const auto [known, added] = matrix_.classes.emplace(std::minmax(row, column), path_class);
    if (!added && known->second != path_class) {
      refuse(fmt::format("{} from {} to {}, but {} the other way: no machine is wired so", word, a,
                         b, to_string(known->second)));
    }
  }

  void read_affinity(std::size_t row, const Words& words) {
    for (std::size_t i = 0; i < std::min(words.size(), columns_.size()); ++i) {
      if (columns_[i] == Column::other || words[i] == "N/A") continue;
      if (!is_digit(words[i].front())) {
        // The columns are over where prose begins.
        return warn(fmt::format("row {}: '{}' is not a list of numbers: left out",
                                matrix_.devices[row].name, words[i]));
      }
      std::vector<int> numbers;
      try {
        numbers = parse_list(words[i]);
      } catch (const Failure& failure) {
        refuse(failure.what());
      }
      std::sort(numbers.begin(), numbers.end());
      numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
      auto& device = matrix_.devices[row];
      if (columns_[i] == Column::cpus) {
        device.cpus = std::move(numbers);
      } else if (numbers.size() == 1) {
        device.numa_node = numbers.front();
      }
    }
  }

  void add_names() {
    for (auto& device : matrix_.devices) {
      if (const auto found = aliases_.find(device.name); found != aliases_.end()) {
        device.alias = found->second;
      }
      if (const auto found = models_.find(device.name); found != models_.end()) {
        device.model = found->second;
      }
    }
    for (const auto* names : {&aliases_, &models_}) {
      for (const auto& [name, other] : *names) {
        if (index_of(name) < matrix_.devices.size()) continue;
        matrix_.warnings.push_back(
            fmt::format("{} ({}) is of no column of the matrix: left out", name, other));
      }
    }
  }

  enum class State { before, rows, between, affinities, done } state_ = State::before;
  int line_ = 0;
  int header_line_ = 0;
  Matrix matrix_;
  std::vector<Column> columns_;
  std::set<std::size_t> rows_;
  int affinities_line_ = 0;  ///< where a block of them begins below the matrix
  std::set<std::size_t> affinity_rows_;
  std::map<std::string, std::string> aliases_;
  std::map<std::string, std::string> models_;
};

}  // namespace

Matrix parse_matrix(std::string_view text) { return MatrixReader().read(text); }

Graph graph_from_matrix(std::string_view text) { return graph_of_matrix(parse_matrix(text)); }

}  // namespace ucxbench
