#include "harness/analysis/imports/matrix_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <set>

#include "harness/analysis/imports/import.hpp"
#include "harness/analysis/imports/matrix_paste.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t most_devices = 512;

bool begins_with(const Words& words, std::initializer_list<std::string_view> label) {
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
    for (const auto& line : pasted_lines(text)) {
      line_ = line.number;
      read_line(line.words);
    }
    if (matrix_.devices.empty()) {
      refuse_other_output(text, true);
      throw Failure(Exit::usage,
                    "no matrix of nvidia-smi topo -m in it: no line of GPU0 GPU1 … to begin one");
    }
    if (rows_.empty()) refuse_at(header_line_, "the matrix has no rows");
    add_names();
    find_what_is_left_out();
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
    read_models(words);
    refuse_second_matrix(words);
    // A name alone is what a cut-off row leaves, or the header of a single GPU.
    const bool rest_of_row = words.size() == 1 && matrix_.devices.size() > 1;
    if (is_matrix_header(words) && !rest_of_row) {
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
    } else if (is_open() && words.size() > 1 && is_matrix_name(words[0]) &&
               is_matrix_class(words[1])) {
      refuse(fmt::format("row {} is of no column of the header, line {}", words[0], header_line_));
    } else if (state_ == State::rows && !rows_.empty()) {
      state_ = State::between;
    }
  }

  /// Of another machine: its names would be taken for this one's. That of topo -p2p has no classes.
  void refuse_second_matrix(const Words& words) const {
    const auto is_other = [](std::string_view word) {
      return is_matrix_class(word) && word != "X";
    };
    if (state_ == State::done && words.size() > 1 && is_matrix_name(words.front()) &&
        is_matrix_class(words[1]) && std::any_of(words.begin() + 1, words.end(), is_other)) {
      refuse(fmt::format("a second matrix, the first begins at line {}: give one machine's alone",
                         header_line_));
    }
  }

  bool is_open() const { return state_ == State::rows || state_ == State::between; }
  void warn(const std::string& what) {
    matrix_.warnings.push_back(fmt::format("line {}: {}", line_, what));
  }

  /// "NIC0: mlx5_0", and what each class means: nvidia-smi topo -mp leaves NVLinks out.
  void read_legend(const Words& words) {
    if (words.size() == 2 && words[0].starts_with("NIC") && words[0].ends_with(':')) {
      const std::string name(words[0].substr(0, words[0].size() - 1));
      if (!aliases_.emplace(name, words[1]).second) {
        warn(fmt::format("a second {} in the legend: left out", name));
      }
    } else if (words.size() > 2 && words[1] == "=") {
      explained_.insert(words[0]);
    }
  }

  /// "GPU 0: Tesla V100-SXM2-16GB (UUID: …)" of nvidia-smi -L; PyTorch's and vLLM's reports of an
  /// environment have no UUID there, and sglang's has one line of all GPUs: "GPU 0,1,2,3: …".
  void read_models(const Words& words) {
    auto at = words.begin();
    if (begins_with(words, {"GPU", "models"})) {
      at = std::find_if(at + 1, words.end(), [](const auto& word) { return word == "GPU"; });
    }
    if (words.end() - at < 3 || *at != "GPU" || !at[1].ends_with(':')) return;
    const auto list = std::string_view(at[1]).substr(0, at[1].size() - 1);
    if (list.empty() || list.find_first_not_of("0123456789,") != std::string_view::npos) return;
    const auto end = std::find_if(at + 2, words.end(),
                                  [](const auto& word) { return word.starts_with("(UUID"); });
    // Without a UUID it may be a sentence.
    if (end == words.end() && std::isupper(static_cast<unsigned char>(at[2].front())) == 0) return;
    const auto model = fmt::format("{}", fmt::join(at + 2, end, " "));
    for (const auto number : split_text(list, ',')) {
      const auto [known, added] = models_.emplace(fmt::format("GPU{}", number), model);
      if (!added && known->second != model) {
        warn(fmt::format("{} is '{}', before it was '{}': that counts", known->first, model,
                         known->second));
      }
    }
  }

  void read_header(const Words& words) {
    const auto names = std::find_if_not(words.begin(), words.end(), is_matrix_name);
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
               (state_ == State::between && !words.empty() && is_matrix_class(words.front()))) {
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
    if (words.size() > count && is_matrix_class(words[count])) {
      refuse(fmt::format("row {} has more cells than the header, line {}, has columns: {}", name,
                         header_line_, count));
    }
    matrix_.devices[row].line = line_;
    read_affinity(row, {words.begin() + static_cast<std::ptrdiff_t>(count), words.end()});
  }

  void read_cell(std::size_t row, std::size_t column, std::string_view word) {
    if (!is_matrix_class(word)) {
      constexpr std::array<std::string_view, 7> abilities = {"OK", "CNS", "GNS", "TNS",
                                                             "NS", "U",   "DR"};
      if (std::find(abilities.begin(), abilities.end(), word) != abilities.end()) {
        refuse(
            fmt::format("'{}' is of nvidia-smi topo -p2p, which says what GPUs may do, not how "
                        "they are wired: give what topo -m prints",
                        word));
      }
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

  /// The legend of topo -m explains NV# on every machine since it has SYS.
  void find_what_is_left_out() {
    const auto count = std::ranges::count_if(matrix_.devices, &MatrixDevice::is_gpu);
    matrix_.without_nvlinks =
        count > 1 && explained_.contains("SYS") && !explained_.contains("NV#");
    if (!matrix_.without_nvlinks) return;
    matrix_.warnings.push_back(
        "its legend has no NV#: it is of nvidia-smi topo -mp, which leaves NVLinks out, so there "
        "is "
        "no peak between GPUs; give what topo -m prints");
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
  std::set<std::string> explained_;  ///< classes that the legend has
  std::map<std::string, std::string> aliases_;
  std::map<std::string, std::string> models_;
};

}  // namespace

Matrix parse_matrix(std::string_view text) { return MatrixReader().read(text); }

Graph graph_from_matrix(std::string_view text) { return graph_of_matrix(parse_matrix(text)); }

}  // namespace ucxbench
