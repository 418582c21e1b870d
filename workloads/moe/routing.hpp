#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ucxbench::moe {

/// How popular experts are: weights, expert 0's the largest.
///   - "uniform": all alike
///   - "hot:K": the first K alike, the others never
///   - "zipf:S": expert e as 1/(e + 1)^S (Zipf's law)
/// Throws Failure(Exit::usage) for any other text, and for more hot experts than there are.
std::vector<double> popularity_of(std::string_view routing, std::uint64_t experts);

/// Which experts each token goes to: `top_k` different ones, drawn one after the other, each with a
/// probability proportional to its weight among those that are left. It follows from the token's
/// number alone, so that every rank knows it of all tokens. Experts are on ranks in order, on each
/// as many as on any other or one more.
class Router {
 public:
  /// At least `top_k` of the weights are not 0.
  Router(std::vector<double> popularity, std::uint64_t top_k, int ranks);

  std::vector<std::uint64_t> experts_of(std::uint64_t token);
  int rank_of(std::uint64_t expert) const;

  /// By rank, the tokens of `first` to `first + count` that go there, in order: once each, however
  /// many of their experts are there.
  std::vector<std::vector<std::uint64_t>> tokens_by_rank(std::uint64_t first, std::uint64_t count);

 private:
  struct Draw {
    double time;
    std::uint64_t expert;
  };

  std::vector<double> popularity_;
  std::uint64_t top_k_;
  int ranks_;
  std::vector<Draw> draws_;
};

}  // namespace ucxbench::moe
