// The loops over rows: here once, and compiled by each file that includes this, in its anonymous
// namespace, for the processor that it is of. No #pragma once.
//
// Such a file defines before:
//   TARGET                            the attribute by which the compiler may use the instructions
//   stream_line(to, line, last)       writes a line past the caches, with another last word
//   equal_words(line, key)            bit i: whether word i of the line is the key

template <bool upper>
TARGET inline void pieces_as(const std::uint64_t* keys, std::uint64_t rows, std::uint64_t pieces,
                             std::uint32_t* piece) {
  for (std::uint64_t row = 0; row < rows; ++row) {
    const auto hash = hash_of(keys[row]);
    const auto half = upper ? hash >> 32U : hash & 0xffffffffU;
    piece[row] = static_cast<std::uint32_t>((half * pieces) >> 32U);
  }
}

TARGET void upper_pieces(const std::uint64_t* keys, std::uint64_t rows, std::uint64_t pieces,
                         std::uint32_t* piece) {
  pieces_as<true>(keys, rows, pieces, piece);
}

TARGET void lower_pieces(const std::uint64_t* keys, std::uint64_t rows, std::uint64_t pieces,
                         std::uint32_t* piece) {
  pieces_as<false>(keys, rows, pieces, piece);
}

// With columns that are known, the loops over them are none. 0: not known.
template <std::uint32_t known_columns>
TARGET inline void scatter_as(const Scattering& scattering, const Rows& rows,
                              const std::uint32_t* bucket) {
  constexpr auto last = line_words - 1;
  const auto columns = known_columns != 0 ? known_columns : scattering.columns;
  const auto [words, count, stride] = rows;
  auto* const all_lines = scattering.lines;
  for (std::uint64_t row = 0; row < count; ++row) {
    const std::size_t to = bucket[row];
    auto* lines = all_lines + to * columns;
    const auto at = lines->words[last];
    const auto place = at % line_words;
    if (place != last) {
      for (std::uint32_t column = 0; column < columns; ++column) {
        lines[column].words[place] = words[column * stride + row];
      }
    } else {
      const auto first = at - last;
      const auto start = scattering.starts[to];
      for (std::uint32_t column = 0; column < columns; ++column) {
        auto* out = scattering.out + first + column * scattering.strides[to];
        const auto value = words[column * stride + row];
        if (first >= start) {
          stream_line(out, lines[column], value);
        } else {  // the bucket before it has a part of this line
          for (auto i = start - first; i < last; ++i) out[i] = lines[column].words[i];
          out[last] = value;
        }
      }
    }
    lines->words[last] = at + 1;
  }
}

TARGET void scatter(const Scattering& scattering, const Rows& rows, const std::uint32_t* bucket) {
  if (scattering.columns == 1) return scatter_as<1>(scattering, rows, bucket);
  if (scattering.columns == 2) return scatter_as<2>(scattering, rows, bucket);
  scatter_as<0>(scattering, rows, bucket);
}

template <std::uint32_t known_columns>
TARGET inline void find_as(const RowTable& table, const std::uint64_t* keys,
                           const std::uint32_t* line, std::uint64_t rows, Matches& matches) {
  const std::uint64_t columns = known_columns != 0 ? known_columns : table.columns;
  const auto* words = table.words;
  const auto* filled = table.filled;
  std::uint64_t found = 0;
  for (std::uint64_t row = 0; row < rows; ++row) {
    if (row + lines_ahead < rows) {
      const auto* soon = words + line[row + lines_ahead] * columns * line_words;
      __builtin_prefetch(soon);
    }
    std::uint64_t at = line[row];
    const auto key = keys[row];
    unsigned in_line = filled[at];
    // Words of an earlier table stand behind those that are filled.
    auto equal = equal_words(words + at * columns * line_words, key) & ((1U << in_line) - 1U);
    while (static_cast<unsigned>(in_line > line_words) & static_cast<unsigned>(equal == 0)) {
      ++at;
      in_line = filled[at];
      equal = equal_words(words + at * columns * line_words, key) & ((1U << in_line) - 1U);
    }
    // Written in any case: whether a row matches cannot be foreseen.
    matches.row[found] = static_cast<std::uint32_t>(row);
    matches.place[found] =
        at * columns * line_words + static_cast<unsigned>(__builtin_ctz(equal | 1U << line_words));
    found += equal != 0 ? 1 : 0;
  }
  matches.rows = found;
}

TARGET void find(const RowTable& table, const std::uint64_t* keys, const std::uint32_t* line,
                 std::uint64_t rows, Matches& matches) {
  if (table.columns == 2) return find_as<2>(table, keys, line, rows, matches);
  find_as<0>(table, keys, line, rows, matches);
}
