#include "workloads/moe/routing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/core/failure.hpp"
#include "harness/core/pattern.hpp"
#include "harness/core/text.hpp"

namespace ucxbench::moe {

std::vector<double> popularity_of(std::string_view routing, std::uint64_t experts) {
  std::vector<double> weights(experts, 1);
  if (routing == "uniform") return weights;
  const auto name = routing.substr(0, routing.find(':'));
  const auto value = routing.substr(std::min(name.size() + 1, routing.size()));
  if (name == "hot") {
    const auto hot = number_in<std::uint64_t>(value);
    if (hot && *hot >= 1 && *hot <= experts) {
      std::fill(weights.begin() + static_cast<std::ptrdiff_t>(*hot), weights.end(), 0);
      return weights;
    }
  }
  if (name == "zipf") {
    constexpr double steepest = 10;
    const auto exponent = number_in<double>(value);
    if (exponent && *exponent > 0 && *exponent <= steepest) {
      for (std::uint64_t expert = 0; expert < experts; ++expert) {
        weights[expert] = std::pow(static_cast<double>(expert + 1), -*exponent);
      }
      return weights;
    }
  }
  throw Failure(Exit::usage,
                fmt::format("--routing: '{}': expected uniform, hot:K with K from 1 to {} experts, "
                            "or zipf:S with S above 0, up to 10",
                            routing, experts));
}

Router::Router(std::vector<double> popularity, std::uint64_t top_k, int ranks)
    : popularity_(std::move(popularity)), top_k_(top_k), ranks_(ranks) {}

// The first ones of a race: each expert comes after a time that is exponentially distributed with
// its weight as the rate (Efraimidis and Spirakis, Weighted Random Sampling with a Reservoir,
// Information Processing Letters 97, 2006).
std::vector<std::uint64_t> Router::experts_of(std::uint64_t token) {
  draws_.clear();
  for (std::uint64_t expert = 0; expert < popularity_.size(); ++expert) {
    if (popularity_[expert] <= 0) continue;
    const auto random = mix64(mix64(token + 1) + expert);
    const auto uniform = (static_cast<double>(random >> 11U) + 0.5) * 0x1p-53;  // above 0, below 1
    draws_.push_back({-std::log(uniform) / popularity_[expert], expert});
  }
  const auto last = draws_.begin() + static_cast<std::ptrdiff_t>(top_k_);
  std::ranges::partial_sort(draws_, last, {}, &Draw::time);
  std::vector<std::uint64_t> chosen;
  std::transform(draws_.begin(), last, std::back_inserter(chosen),
                 [](const Draw& draw) { return draw.expert; });
  return chosen;
}

int Router::rank_of(std::uint64_t expert) const {
  return static_cast<int>(expert * static_cast<std::uint64_t>(ranks_) / popularity_.size());
}

std::vector<std::vector<std::uint64_t>> Router::tokens_by_rank(std::uint64_t first,
                                                               std::uint64_t count) {
  std::vector<std::vector<std::uint64_t>> tokens(static_cast<std::size_t>(ranks_));
  for (auto token = first; token < first + count; ++token) {
    for (const auto expert : experts_of(token)) {
      auto& there = tokens[static_cast<std::size_t>(rank_of(expert))];
      if (there.empty() || there.back() != token) there.push_back(token);
    }
  }
  return tokens;
}

}  // namespace ucxbench::moe
