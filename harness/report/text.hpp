#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/result/words.hpp"

namespace ucxbench {

/// As `significant`, with a decimal prefix, for counts: 1.23M, 456k.
std::string prefixed(const std::optional<double>& value, int digits);

/// `text` broken at spaces into lines of at most `width`, each begun by `indent`.
std::string wrapped(const std::string& text, const std::string& indent, std::size_t width);

/// A table of text. Column groups name their unit once.
struct Grid {
  struct Column {
    std::string group;  ///< shared by neighbours: "latency, us"; may be empty
    std::string name;
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  ///< as wide as `columns`
};

/// Right-aligned columns, two spaces apart; the groups in a line above, when there are any.
struct AlignedGrid {
  std::vector<std::string> header;
  std::vector<std::string> rows;
};
AlignedGrid aligned(const Grid& grid);

}  // namespace ucxbench
