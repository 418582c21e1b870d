#include "bench/cli/options/memory_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/of_option.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"

namespace ucxbench {

bool any_on_gpu(const std::vector<MemoryKind>& kinds) {
  return std::any_of(kinds.begin(), kinds.end(), on_gpu);
}

std::vector<MemoryKind> parse_memory_pair(const std::string& text) {
  std::vector<MemoryKind> kinds;
  for (const auto kind : split_text(text, ',')) kinds.push_back(parse_memory_kind(kind));
  if (kinds.size() > 2) {
    throw Failure(Exit::usage, fmt::format("--memory {}: one kind, or two: sent from, received "
                                           "into; repeat the option for several",
                                           text));
  }
  if (kinds.size() == 1) kinds.push_back(kinds.front());
  return kinds;
}

void MemoryOptions::add_options(CLI::App& command) {
  command
      .add_option("-m,--memory", memory,
                  "host | pinned | cuda | managed, or SEND,RECEIVE; repeatable (default: host)")
      ->group("place")
      ->type_name("KIND")
      ->allow_extra_args(false);
  command.add_option("--devs", devices, "GPUs of the ranks, round again: 0-3,7 (default: all)")
      ->group("place")
      ->type_name("LIST");
}

void MemoryOptions::add_pool_size(CLI::App& command) {
  command
      .add_option("--rmm-pool-size", pool_size,
                  "GPU memory allocated at once (default: what is needed)")
      ->group("place")
      ->type_name("SIZE");
}

void MemoryOptions::add_no_pool(CLI::App& command) {
  command.add_flag("--no-pool", no_pool, "each buffer an allocation of its own")->group("place");
}

std::vector<std::vector<MemoryKind>> MemoryOptions::kinds() const {
  std::vector<std::vector<MemoryKind>> all;
  for (const auto& text : memory.empty() ? std::vector<std::string>{"host"} : memory) {
    auto kinds = parse_memory_pair(text);
    if (std::find(all.begin(), all.end(), kinds) == all.end()) all.push_back(std::move(kinds));
  }
  return all;
}

std::vector<int> MemoryOptions::gpus() const {
  if (devices.empty()) return {};
  return of_option("--devs", [&] { return parse_list(devices); });
}

std::uint64_t MemoryOptions::pool_bytes() const {
  if (pool_size.empty()) return 0;
  if (no_pool) throw Failure(Exit::usage, "--rmm-pool-size and --no-pool: one of the two");
  return of_option("--rmm-pool-size", [&] { return parse_size(pool_size); });
}

std::vector<std::uint64_t> message_sizes(const std::string& text, int local_ranks, int buffers) {
  auto sizes = of_option("--sizes", [&] { return parse_sizes(text); });
  const auto largest = *std::max_element(sizes.begin(), sizes.end());
  // UCX and the system keep a tenth.
  const auto fits = available_memory_bytes() / 10 * 9 / static_cast<std::uint64_t>(buffers) /
                    static_cast<std::uint64_t>(local_ranks);
  if (largest <= fits) return sizes;
  throw Failure(Exit::usage,
                fmt::format("--sizes: {} {} times in each of {} ranks is more than the available "
                            "memory; at most {} fit",
                            spaced_size(largest), buffers, local_ranks, rough_size(fits)));
}

}  // namespace ucxbench
