#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/result/words.hpp"

namespace ucxbench {

/// As `significant`, with a decimal prefix, for counts: 1.23M, 456k.
std::string prefixed(const std::optional<double>& value, int digits);

/// The two numbers under a name: "1.20..1.31", "-" for either that is not known, and where there
/// are not two.
std::string interval_text(const Json& object, const char* name);

/// Columns of what is printed: 100, and less where stdout is a narrower terminal, but at least 60.
std::size_t page_width();

/// `words` broken at spaces into lines of at most `width`, each begun by `indent`.
std::string wrapped(const std::string& words, const std::string& indent, std::size_t width);

/// In cells: what is not known, and what there is none of.
inline constexpr const char* unknown_cell = "?";
inline constexpr const char* no_cell = "-";

using TextRows = std::vector<std::vector<std::string>>;

/// Left-aligned, two spaces apart, an empty line after; the first row is the header. Columns of
/// which nothing is known are left out, unless `all_columns`.
std::string left_aligned(TextRows rows, bool all_columns = false);

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
AlignedGrid aligned(Grid grid);

/// The same columns in as many tables as it takes for none to be wider than `width`, if a group of
/// them is not by itself: each begins with the columns before the first group. Groups are not
/// divided.
std::vector<Grid> fitted(const Grid& grid, std::size_t width);

}  // namespace ucxbench
