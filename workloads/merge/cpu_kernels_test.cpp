#include "workloads/merge/cpu_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/core/activity.hpp"
#include "harness/memory/buffer.hpp"
#include "workloads/common/cpu.hpp"
#include "workloads/merge/cpu_join.hpp"

namespace ucxbench::merge {
namespace {

using Words = std::vector<std::uint64_t>;

Buffer on_host(std::size_t bytes) { return {MemoryKind::host, bytes}; }

std::uint64_t* words_in(Buffer& buffer) { return reinterpret_cast<std::uint64_t*>(buffer.data()); }

// A table whose second column tells the row, so that a row that was torn apart is noticed.
Words table_of(std::uint64_t rows, std::uint32_t columns) {
  Words words(rows * columns);
  for (std::uint64_t row = 0; row < rows; ++row) {
    words[row] = mix64(row);
    for (std::uint32_t column = 1; column < columns; ++column) {
      words[column * rows + row] = mix64(row) + column;
    }
  }
  return words;
}

std::vector<std::uint64_t> strides_of(const Spread& spread, const Words& counts) {
  std::vector<std::uint64_t> strides;
  for (const auto& block : blocks_of(spread, counts)) strides.push_back(block.stride());
  return strides;
}

struct Tested {
  const char* name;
  RowCode (*code)();
  bool (*runs_here)();
};

const auto all_code =
    testing::Values(Tested{"plain", plain_rows, [] { return true; }},
                    Tested{"avx2", avx2_rows, has_avx2}, Tested{"avx512", avx512_rows, has_avx512});

// "avx2_3": the code, and the number of the shape.
std::string name_of(const auto& of) {
  return std::get<0>(of.param).name + std::string("_") + std::to_string(of.index);
}

template <typename Shape>
class OfCode : public testing::TestWithParam<std::tuple<Tested, Shape>> {
 protected:
  void SetUp() override {
    const auto& tested = std::get<0>(this->GetParam());
    if (!tested.runs_here()) GTEST_SKIP() << "this CPU has no " << tested.name;
    code = tested.code();
    kernels = make_cpu_kernels([] {}, code);
  }
  const Shape& shape() const { return std::get<1>(this->GetParam()); }

  RowCode code{};
  std::unique_ptr<Kernels> kernels;
};

struct Shape {
  std::uint64_t rows;
  std::uint32_t columns;
  Spread spread;
};

class Partition : public OfCode<Shape> {};

TEST_P(Partition, PutsEveryRowIntoItsBucketOnce) {
  const auto& [rows, columns, spread] = shape();
  // Its words do not begin at a cache line.
  auto words = table_of(rows, columns);
  words.insert(words.begin(), 3, 0);
  const Rows table{words.data() + 3, rows, rows};
  const auto counts = kernels->count(table, spread);
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}), rows);
  const auto starts = bucket_words(spread, counts, columns);
  const auto strides = strides_of(spread, counts);
  const auto room = room_of(blocks_of(spread, counts)) * columns;
  Buffer out(MemoryKind::host, (room + 1) * 8);
  constexpr std::uint64_t untouched = 0x0123456789abcdef;
  std::fill_n(words_in(out), room + 1, untouched);
  kernels->scatter(table, columns, spread, starts, strides, words_in(out));

  std::vector<std::uint64_t> seen;
  for (std::uint32_t bucket = 0; bucket < spread.buckets(); ++bucket) {
    const auto stride = strides[bucket / spread.parts];
    for (std::uint64_t row = 0; row < counts[bucket]; ++row) {
      const auto* at = words_in(out) + starts[bucket] + row;
      EXPECT_EQ(spread.bucket_of(hash_of(*at)), bucket);
      for (std::uint32_t column = 1; column < columns; ++column) {
        ASSERT_EQ(at[column * stride], *at + column);
      }
      seen.push_back(*at);
    }
  }
  std::sort(seen.begin(), seen.end());
  auto keys = Words(table.words, table.words + rows);
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(seen, keys);
  const auto written = std::count_if(words_in(out), words_in(out) + room + 1,
                                     [](std::uint64_t word) { return word != untouched; });
  EXPECT_EQ(static_cast<std::uint64_t>(written), rows * columns);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Partition,
    testing::Combine(all_code,
                     testing::Values(Shape{0, 2, {}}, Shape{1, 1, {}}, Shape{7, 2, {}},
                                     Shape{10'001, 2, {.ranks = 3, .batches = 2, .parts = 5}},
                                     Shape{4096, 4, {.ranks = 2, .batches = 1, .parts = 64}},
                                     Shape{100'003, 1, {.ranks = 1, .batches = 4, .parts = 99}},
                                     Shape{500, 2, {.ranks = 8, .batches = 8, .parts = 16}},
                                     Shape{60'000, 2, {.ranks = 64, .batches = 4, .parts = 8}},
                                     Shape{5000, 3, {.ranks = 5, .batches = 1, .parts = 3}})),
    [](const auto& of) { return name_of(of); });

struct Join {
  std::uint64_t build_rows, probe_rows;
  std::uint32_t columns;
};

class Joins : public OfCode<Join> {
 protected:
  // Probe rows: every third key is no build row's.
  Words probe_words() const {
    const auto& p = shape();
    Words words(p.probe_rows * p.columns);
    for (std::uint64_t row = 0; row < p.probe_rows; ++row) {
      words[row] = row % 3 == 0 || p.build_rows == 0 ? mix64((std::uint64_t{1} << 40U) + row)
                                                     : mix64(row % p.build_rows);
      for (std::uint32_t column = 1; column < p.columns; ++column) {
        words[column * p.probe_rows + row] = 1000 * row + column;
      }
    }
    return words;
  }
};

TEST_P(Joins, GiveWhatAMapGives) {
  constexpr std::uint64_t salt = 77;
  const auto& p = shape();
  const auto build = table_of(p.build_rows, p.columns);
  const auto probe = probe_words();
  std::map<std::uint64_t, std::uint64_t> rows;
  for (std::uint64_t row = 0; row < p.build_rows; ++row) rows[build[row]] = row;
  Checksum expected;
  for (std::uint64_t row = 0; row < p.probe_rows; ++row) {
    const auto found = rows.find(probe[row]);
    if (found == rows.end()) continue;
    auto word = fold(0, probe[row]);
    for (std::uint32_t column = 1; column < p.columns; ++column) {
      word = fold(word, salt ^ build[column * p.build_rows + found->second]);
    }
    for (std::uint32_t column = 1; column < p.columns; ++column) {
      word = fold(word, salt ^ probe[column * p.probe_rows + row]);
    }
    expected.add(word);
  }
  kernels->reserve(p.columns, p.build_rows, on_host);
  // In three segments, as from three ranks, one of which has no row.
  const auto half = p.build_rows / 2;
  kernels->build(std::vector<Rows>{{build.data(), half, p.build_rows},
                                   {build.data() + half, 0, p.build_rows},
                                   {build.data() + half, p.build_rows - half, p.build_rows}});
  Joined joined;
  joined.capacity = expected.rows;
  Words out(joined.capacity * (2 * p.columns - 1));
  joined.words = out.data();
  kernels->probe(std::vector<Rows>{{probe.data(), p.probe_rows, p.probe_rows}}, joined);
  EXPECT_EQ(joined.rows, expected.rows);
  EXPECT_EQ(kernels->checksum(joined, p.columns, salt), expected);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, Joins,
    testing::Combine(all_code, testing::Values(Join{0, 0, 2}, Join{0, 5, 2}, Join{1, 1, 1},
                                               Join{100, 3, 2}, Join{1000, 1003, 2},
                                               Join{1000, 1003, 4}, Join{20'000, 50'001, 2})),
    [](const auto& of) { return name_of(of); });

struct Crowd {
  std::uint64_t rows, line;
};

// Rows of one line only, which run over into many after it, and past the last.
class Crowds : public OfCode<Crowd> {};

// Rows that hash to one line of a table of `rows` rows.
Words of_one_line(std::uint64_t count, std::uint64_t rows, std::uint64_t line) {
  Words keys;
  for (std::uint64_t key = 0; keys.size() < count; ++key) {
    if (slot_of(hash_of(key), rows / 4 + 1) == line) keys.push_back(key);
  }
  return keys;
}

TEST_P(Crowds, AreFound) {
  const auto [rows, line] = shape();
  const auto keys = of_one_line(rows + 1, rows, line);
  LocalJoin join(code, 1, rows, on_host, [] {});
  join.build(std::vector<Rows>{{keys.data(), rows, rows}});
  Words out(rows + 1);
  Joined joined{out.data(), rows + 1, 0};
  join.probe(std::vector<Rows>{{keys.data(), rows + 1, rows}}, joined);
  EXPECT_EQ(joined.rows, rows);
  out.pop_back();
  EXPECT_EQ(out, Words(keys.begin(), keys.end() - 1));
}

INSTANTIATE_TEST_SUITE_P(Lines, Crowds,
                         testing::Combine(all_code,
                                          testing::Values(Crowd{9, 0}, Crowd{17, 2}, Crowd{303, 10},
                                                          Crowd{303, 75})),
                         [](const auto& of) { return name_of(of); });

// A table of some regions, and more probe rows than the scratch memory takes at once.
TEST(LocalJoin, PartitionsOnceMoreForALargeTable) {
  const std::uint64_t build_rows = 20'000;
  const std::uint64_t probe_rows = 50'003;
  const std::uint64_t once = 2 * LocalJoin::cache_bytes / 3;
  LocalJoin join(plain_rows(), 3, build_rows, on_host, [] {}, once);
  const auto build = table_of(build_rows, 3);
  const auto probe = table_of(probe_rows, 3);
  join.build(std::vector<Rows>{{build.data(), 7000, build_rows},
                               {build.data() + 7000, build_rows - 7000, build_rows}});
  Words out(5 * build_rows);
  Joined joined{out.data(), build_rows, 0};
  join.probe(std::vector<Rows>{{probe.data(), 1, probe_rows},
                               {probe.data() + 1, probe_rows - 1, probe_rows}},
             joined);
  ASSERT_EQ(joined.rows, build_rows);
  for (std::uint64_t row = 0; row < build_rows; ++row) {
    for (std::uint32_t column = 1; column < 5; ++column) {
      ASSERT_EQ(out[column * build_rows + row], out[row] + (column - 1) % 2 + 1);
    }
  }
  out.resize(build_rows);
  std::sort(out.begin(), out.end());
  auto keys = Words(build.begin(), build.begin() + static_cast<std::ptrdiff_t>(build_rows));
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(out, keys);
}

TEST(LocalJoin, LeavesOutWhatRunsOverTooFar) {
  LocalJoin join(plain_rows(), 1, 600, on_host, [] {});
  for (const std::uint64_t line : {0, 150}) {
    const auto keys = of_one_line(600, 600, line);
    join.build(std::vector<Rows>{{keys.data(), 600, 600}});
    Words out(600);
    Joined joined{out.data(), 600, 0};
    join.probe(std::vector<Rows>{{keys.data(), 600, 600}}, joined);
    EXPECT_EQ(joined.rows, 8 * 65U);
  }
}

// The table is reused: nothing of the last one may be found in it.
TEST(LocalJoin, ForgetsTheLastTable) {
  LocalJoin join(plain_rows(), 1, 1000, on_host, [] {});
  const auto first = table_of(1000, 1);
  const Words second = {mix64(5000)};
  join.build(std::vector<Rows>{{first.data(), 1000, 1000}});
  join.build(std::vector<Rows>{{second.data(), 1, 1}});
  Words out(2000);
  Joined joined{out.data(), 2000, 0};
  join.probe(std::vector<Rows>{{first.data(), 1000, 1000}}, joined);
  EXPECT_EQ(joined.rows, 0U);
  join.probe(std::vector<Rows>{{second.data(), 1, 1}}, joined);
  EXPECT_EQ(joined.rows, 1U);
}

TEST(LocalJoin, LeavesOutWhatItHasNoRoomFor) {
  LocalJoin join(plain_rows(), 1, 100, on_host, [] {});
  const auto many = table_of(1000, 1);
  join.build(std::vector<Rows>{{many.data(), 1000, 1000}});
  Words all(1000);
  Joined none{all.data(), 1000, 0};
  join.probe(std::vector<Rows>{{many.data(), 1000, 1000}}, none);
  EXPECT_EQ(none.rows, 0U);
  join.build(std::vector<Rows>{{many.data(), 100, 100}});
  Words out(50);
  Joined joined{out.data(), 50, 0};
  join.probe(std::vector<Rows>{{many.data(), 100, 100}}, joined);
  EXPECT_EQ(joined.rows, 0U);
}

TEST(Kernels, CountForeignKeysAndSumKeys) {
  const auto kernels = make_cpu_kernels([] {});
  const Spread spread{.ranks = 2, .batches = 1, .parts = 1};
  const auto words = table_of(1000, 1);
  std::uint64_t others = 0;
  std::uint64_t sum = 0;
  for (const auto key : words) {
    others += spread.bucket_of(hash_of(key)) == 1 ? 1 : 0;
    sum += hash_of(key);
  }
  const Rows rows{words.data(), 1000, 1000};
  EXPECT_EQ(kernels->misplaced_rows(rows, spread, 0), others);
  EXPECT_EQ(kernels->key_sum(rows), sum);
}

// Minutes of it are no hang.
TEST(Kernels, CountAsActivityWhileTheyCompute) {
  const std::uint64_t rows = 200'000;
  const Generator generator({.rows_per_rank = rows, .frac_match = 1});
  const auto kernels = make_cpu_kernels([] {});
  Words words(2 * rows);
  const Rows table{words.data(), rows, rows};
  const Spread spread{.ranks = 2, .parts = 4};
  Words joined_words(3 * rows);
  Joined joined{joined_words.data(), rows};
  std::vector<std::uint64_t> counts;
  kernels->reserve(2, rows, on_host);
  const std::vector<std::pair<const char*, std::function<void()>>> all = {
      {"generate", [&] { kernels->generate(generator, Side::build, 0, rows, 2, words.data()); }},
      {"expected", [&] { expected(generator, spread, 1, 0, rows); }},
      {"count", [&] { counts = kernels->count(table, spread); }},
      {"scatter",
       [&] {
         Buffer aligned = on_host(2 * room_of(blocks_of(spread, counts)) * 8);
         kernels->scatter(table, 2, spread, bucket_words(spread, counts, 2),
                          strides_of(spread, counts), words_in(aligned));
       }},
      {"build", [&] { kernels->build(std::span(&table, 1)); }},
      {"probe", [&] { kernels->probe(std::span(&table, 1), joined); }},
      {"key_sum", [&] { kernels->key_sum(table); }},
      {"misplaced_rows", [&] { kernels->misplaced_rows(table, spread, 0); }},
      {"checksum", [&] { kernels->checksum(joined, 2, 0); }}};
  for (const auto& [name, work] : all) {
    const auto before = activity().count.load();
    work();
    EXPECT_GT(activity().count.load(), before) << name;
  }
}

}  // namespace
}  // namespace ucxbench::merge
