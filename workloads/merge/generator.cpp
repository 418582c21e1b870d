#include "workloads/merge/generator.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/core/activity.hpp"

namespace ucxbench::merge {
namespace {

// Below 2^26, so that its product with a row number below 2^37 fits 64 bits.
std::uint64_t coprime_to(std::uint64_t period) {
  std::uint64_t candidate = 40'503'029;
  while (std::gcd(candidate, period) != 1) candidate += 2;
  return candidate;
}

}  // namespace

Generator::Generator(const Setup& setup) : setup_(setup) {
  formula_.dask = setup.kind == Kind::dask;
  formula_.rows_per_rank = setup.rows_per_rank;
  formula_.ranks = setup.ranks;
  formula_.rows = setup.rows_per_rank * setup.ranks;
  formula_.period = formula_.dask ? setup.rows_per_rank : formula_.rows;
  formula_.multiplier = coprime_to(formula_.period);
  formula_.offset = formula_.period / 3;
  if (formula_.dask) {
    const auto range = setup.rows_per_rank / setup.ranks;
    const auto some = static_cast<std::uint64_t>(static_cast<double>(range) * setup.frac_match);
    formula_.from_each = std::max<std::uint64_t>(some, 1);
    formula_.matches = setup.ranks * setup.ranks * formula_.from_each;
  } else {
    const auto some = static_cast<double>(formula_.rows) * setup.frac_match;
    formula_.matches = std::min(static_cast<std::uint64_t>(some), formula_.rows);
  }
}

std::optional<std::uint64_t> Generator::match_of(std::uint64_t q) const {
  const auto row = formula_.match_of(q);
  if (row == no_row) return std::nullopt;
  return setup_.skew > 0 ? popular_row(q) : row;
}

std::uint64_t Generator::probe_key(std::uint64_t q) const {
  const auto match = match_of(q);
  return match ? formula_.build_key(*match) : formula_.other_key(q);
}

std::uint64_t Generator::popular_row(std::uint64_t q) const {
  const auto uniform = static_cast<double>(mix64(~q) >> 11U) * 0x1p-53;
  const auto most = static_cast<double>(formula_.rows);
  const auto power = 1 - setup_.skew;
  const double place = std::abs(power) < 1e-9
                           ? std::pow(most, uniform)
                           : std::pow(1 + uniform * (std::pow(most, power) - 1), 1 / power);
  return std::min(static_cast<std::uint64_t>(place) - 1, formula_.rows - 1);
}

std::vector<Checksum> expected(const Generator& generator, const Spread& spread,
                               std::uint32_t payload_columns, std::uint64_t first,
                               std::uint64_t last) {
  constexpr std::uint64_t pace = 1U << 16U;
  std::vector<Checksum> ranks(spread.ranks);
  for (auto q = first; q < last; ++q) {
    if (q % pace == 0) activity().bump();  // a billion rows take longer than the watchdog waits
    const auto match = generator.match_of(q);
    if (!match) continue;
    const auto key = generator.key(Side::build, *match);
    auto word = fold(0, key);
    for (const auto side : {Side::build, Side::probe}) {
      for (std::uint32_t column = 0; column < payload_columns; ++column) {
        word = fold(word, generator.payload(side, side == Side::build ? *match : q, column));
      }
    }
    ranks[spread.rank_of(spread.bucket_of(hash_of(key)))].add(word);
  }
  return ranks;
}

}  // namespace ucxbench::merge
