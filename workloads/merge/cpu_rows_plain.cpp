#include <cstring>

#include "workloads/merge/cpu_rows.hpp"
#include "workloads/merge/spread.hpp"

namespace ucxbench::merge {
namespace {

#define TARGET

void stream_line(std::uint64_t* to, const Line& line, std::uint64_t last) {
  std::memcpy(to, line.words.data(), sizeof line);
  to[line_words - 1] = last;
}

unsigned equal_words(const std::uint64_t* line, std::uint64_t key) {
  unsigned equal = 0;
  for (unsigned i = 0; i < line_words; ++i) equal |= (line[i] == key ? 1U : 0U) << i;
  return equal;
}

#include "workloads/merge/cpu_rows_loops.hpp"

}  // namespace

RowCode plain_rows() { return {upper_pieces, lower_pieces, scatter, find}; }

}  // namespace ucxbench::merge
