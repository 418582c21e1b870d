// What the kernels of workloads/merge/cuda_kernels.cu do, row by row.

#include "ci/cuda-emulator/kernels.hpp"
#include "workloads/merge/cuda_arguments.hpp"

namespace emulator {
namespace {

using namespace ucxbench::merge;  // NOLINT: all of it is the kernels' own

using Words = DeviceWords<std::uint64_t>;
using Input = DeviceWords<const std::uint64_t>;

void generate(const GenerateArguments& a) {
  const Words out(a.out);
  for (std::uint64_t row = 0; row < a.rows; ++row) {
    out[row] = a.formula.key(a.side, a.first + row);
    for (std::uint32_t column = 1; column < a.columns; ++column) {
      out[column * a.rows + row] = Formula::payload(a.side, a.first + row, column - 1);
    }
  }
}

void count(const CountArguments& a) {
  const Input keys(a.table.words);
  const Words counts(a.counts);
  for (std::uint64_t row = 0; row < a.table.rows; ++row) {
    ++counts[a.spread.bucket_of(hash_of(keys[row]))];
  }
}

void scatter(const ScatterArguments& a) {
  const Input from(a.table.words);
  const Input starts(a.starts);
  const Input strides(a.strides);
  const Words filled(a.filled);
  const Words out(a.out);
  for (std::uint64_t row = 0; row < a.table.rows; ++row) {
    const auto bucket = a.spread.bucket_of(hash_of(from[row]));
    const auto to = starts[bucket] + filled[bucket]++;
    for (std::uint32_t column = 0; column < a.columns; ++column) {
      out[to + column * strides[bucket / a.spread.parts]] = from[column * a.table.stride + row];
    }
  }
}

void clear(const ClearArguments& a) {
  const Words words(a.table.words);
  for (std::uint64_t at = 0; at < a.table.slots * a.table.columns; ++at) words[at] = no_key;
}

/// Where the search for a key ends: at its slot, or an empty one.
std::uint64_t find(const HashTable& table, const Words& words, std::uint64_t key) {
  auto slot = slot_of(hash_of(key), table.slots);
  while (words[slot * table.columns] != key && words[slot * table.columns] != no_key) {
    slot = slot + 1 == table.slots ? 0 : slot + 1;
  }
  return slot * table.columns;
}

// The real kernels know the number of segments by their grid; those that are not there are empty.
void build(const BuildArguments& a) {
  const Words words(a.table.words);
  for (const auto& segment : a.segments.rows) {
    const Input from(segment.words);
    for (std::uint64_t row = 0; row < segment.rows; ++row) {
      const auto slot = find(a.table, words, from[row]);
      for (std::uint32_t column = 0; column < a.table.columns; ++column) {
        words[slot + column] = from[column * segment.stride + row];
      }
    }
  }
}

void probe(const ProbeArguments& a) {
  const Words words(a.table.words);
  const Words out(a.out.words);
  const Words found(a.found);
  const auto columns = a.table.columns;
  for (const auto& segment : a.segments.rows) {
    const Input from(segment.words);
    for (std::uint64_t row = 0; row < segment.rows; ++row) {
      const auto slot = find(a.table, words, from[row]);
      if (words[slot] != from[row]) continue;
      const auto at = a.out.rows + found[0]++;
      if (at >= a.out.capacity) continue;
      for (std::uint32_t column = 0; column < columns; ++column) {
        out[column * a.out.capacity + at] = words[slot + column];
      }
      for (std::uint32_t column = 1; column < columns; ++column) {
        out[(columns - 1 + column) * a.out.capacity + at] = from[column * segment.stride + row];
      }
    }
  }
}

void key_sum(const KeySumArguments& a) {
  const Input keys(a.rows.words);
  const Words sum(a.sum);
  for (std::uint64_t row = 0; row < a.rows.rows; ++row) sum[0] += hash_of(keys[row]);
}

void strangers(const StrangersArguments& a) {
  const Input keys(a.rows.words);
  const Words count(a.count);
  for (std::uint64_t row = 0; row < a.rows.rows; ++row) {
    const auto bucket = a.spread.bucket_of(hash_of(keys[row]));
    count[0] += a.spread.rank_of(bucket) == a.rank ? 0 : 1;
  }
}

void checksum(const ChecksumArguments& a) {
  const Input words(a.joined.words);
  const Words sum(a.sum);
  for (std::uint64_t row = 0; row < a.joined.rows; ++row) {
    std::uint64_t word = 0;
    for (std::uint32_t column = 0; column < 2 * a.columns - 1; ++column) {
      word = fold(word, words[column * a.joined.capacity + row]);
    }
    sum[0] += word;
    sum[1] ^= word;
  }
}

constexpr Known ALL[] = {
    known<GenerateArguments, generate>(), known<CountArguments, count>(),
    known<ScatterArguments, scatter>(),   known<ClearArguments, clear>(),
    known<BuildArguments, build>(),       known<ProbeArguments, probe>(),
    known<KeySumArguments, key_sum>(),    known<StrangersArguments, strangers>(),
    known<ChecksumArguments, checksum>(),
};

}  // namespace

std::span<const Known> merge_kernels() { return ALL; }

}  // namespace emulator
