#include "workloads/moe/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/failure.hpp"
#include "harness/run/description.hpp"
#include "workloads/moe/routing.hpp"

namespace ucxbench::moe {

void settle(Parameters& p) {
  settle_workload(p);
  if (p.scaling == Scaling::strong) p.tokens /= static_cast<std::uint64_t>(p.ranks);
}

std::uint64_t input_bytes(const Parameters& p) {
  return p.tokens * p.token_bytes * static_cast<std::uint64_t>(p.ranks);
}

void check(const Parameters& p, const Local& local) {
  check_workload(p);
  const auto ranks = static_cast<std::uint64_t>(p.ranks);
  if (p.ranks < 2) throw Failure(Exit::usage, "--ranks 1: moe needs at least two");
  if (p.tokens == 0) {
    throw Failure(Exit::usage, "--tokens: strong scaling leaves a rank nothing; ask for more");
  }
  if (p.token_bytes == 0 || p.token_bytes % sizeof(std::uint64_t) != 0) {
    throw Failure(Exit::usage,
                  fmt::format("--token-size: {} B; expected a multiple of 8", p.token_bytes));
  }
  if (p.experts < ranks) {
    throw Failure(Exit::usage, fmt::format("--experts: {} are fewer than {} ranks; each has one at "
                                           "least",
                                           p.experts, p.ranks));
  }
  const auto popularity = popularity_of(p.routing, p.experts);
  const auto chosen_ever = static_cast<std::uint64_t>(
      std::ranges::count_if(popularity, [](double weight) { return weight > 0; }));
  if (p.top_k > chosen_ever) {
    throw Failure(Exit::usage, fmt::format("--top-k: {} of {} experts that --routing {} chooses "
                                           "among",
                                           p.top_k, chosen_ever, p.routing));
  }
  if (!on_host(p.kind())) return;
  // Tokens to send, those that came, and those that came back.
  const auto bytes_of_token = 3 * std::min(p.top_k, ranks - 1) * p.token_bytes;
  const auto most = local.memory_bytes / static_cast<std::uint64_t>(local.ranks) / bytes_of_token;
  if (p.tokens <= most) return;
  throw Failure(Exit::usage,
                fmt::format("--tokens: {} in each of {} ranks are more than the available memory; "
                            "{} fit",
                            p.tokens, local.ranks, most));
}

}  // namespace ucxbench::moe
