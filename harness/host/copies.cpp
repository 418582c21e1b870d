#include "harness/host/copies.hpp"

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <system_error>
#include <thread>

#include "harness/result/words.hpp"
#include "harness/topology/cpus.hpp"

namespace ucxbench {
namespace {

using CopyClock = std::chrono::steady_clock;

constexpr std::size_t mib = std::size_t{1} << 20U;
constexpr std::size_t most_rounds = 4;
constexpr std::chrono::milliseconds enough_time{50};  // no round begins later
// Of a buffer. Touching memory for the first time is what takes long, of a virtual machine above
// all: all buffers together have this four times, as long as a core's leave its own caches.
constexpr std::size_t most_bytes = 64 * mib;
constexpr std::size_t least_bytes = 8 * mib;

/// One thread's buffers, and when it copied. Only the thread itself touches them, so that they lie
/// in its own NUMA node.
struct Copier {
  std::unique_ptr<std::byte[]> from, into;
  bool touched = false;
  std::array<CopyClock::time_point, most_rounds> begins{}, ends{};

  explicit Copier(std::size_t bytes)
      : from(std::make_unique_for_overwrite<std::byte[]>(bytes)),
        into(std::make_unique_for_overwrite<std::byte[]>(bytes)) {}
};

double best_GBps(std::span<const Copier> copiers, std::size_t bytes, std::size_t rounds) {
  double best = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    auto begin = copiers.front().begins[round];
    auto end = copiers.front().ends[round];
    for (const auto& copier : copiers) {
      begin = std::min(begin, copier.begins[round]);
      end = std::max(end, copier.ends[round]);
    }
    const auto seconds = std::chrono::duration<double>(end - begin).count();
    best = std::max(best, static_cast<double>(copiers.size() * bytes) / seconds / 1e9);
  }
  return best;
}

/// GB/s of the first `bytes` of each; empty where the system refuses a thread.
std::optional<double> copy_on(const std::vector<int>& cpus, std::span<Copier> copiers,
                              std::size_t bytes) {
  std::size_t rounds = 0;
  bool more = true;
  CopyClock::time_point first;
  std::barrier together(static_cast<std::ptrdiff_t>(cpus.size()), [&]() noexcept {
    const auto now = CopyClock::now();
    if (rounds == 0) first = now;
    more = rounds < most_rounds && now - first < enough_time;
    rounds += more ? 1 : 0;
  });
  const auto copy = [&](Copier& copier, int cpu) {
    pin_this_thread(cpu);  // what may not be pinned is measured where it is
    if (!copier.touched) std::memset(copier.from.get(), 1, bytes);
    copier.touched = true;
    timed_copy(copier.from.get(), copier.into.get(), bytes);  // warm-up
    for (std::size_t round = 0;; ++round) {
      together.arrive_and_wait();
      if (!more) return;
      copier.begins[round] = CopyClock::now();
      timed_copy(copier.from.get(), copier.into.get(), bytes);
      copier.ends[round] = CopyClock::now();
    }
  };
  bool refused = false;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < cpus.size(); ++i) {
      try {
        threads.emplace_back(copy, std::ref(copiers[i]), cpus[i]);
      } catch (const std::system_error&) {
        refused = true;
        together.arrive_and_drop();  // or the others would wait for it
      }
    }
  }
  return refused ? std::nullopt : std::optional(best_GBps(copiers, bytes, rounds));
}

Json copies_json(const std::vector<int>& cpus, std::size_t bytes,
                 const std::optional<double>& GBps) {
  return {{"cpus", cpus}, {"bytes", bytes}, {"copy_GBps", number_or_null(GBps)}};
}

}  // namespace

double timed_copy(const std::byte* from, std::byte* into, std::size_t bytes) {
  const auto begin = CopyClock::now();
  std::memcpy(into, from, bytes);
  asm volatile("" : : "r"(into) : "memory");  // or nobody would need the copy
  return std::chrono::duration<double>(CopyClock::now() - begin).count();
}

Json measure_copies(const std::vector<int>& cpus) {
  const auto each = std::clamp(2 * most_bytes / cpus.size(), least_bytes, most_bytes);
  std::optional<double> alone;
  std::optional<double> all;
  try {
    std::vector<Copier> copiers;
    copiers.emplace_back(most_bytes);
    while (copiers.size() < cpus.size()) copiers.emplace_back(each);
    alone = copy_on({cpus.front()}, std::span(copiers).first(1), most_bytes);
    all = copy_on(cpus, copiers, each);
  } catch (const std::bad_alloc&) {
    all.reset();
  }
  return {{"one_core", copies_json({cpus.front()}, most_bytes, alone)},
          {"all_cores", copies_json(cpus, each, all)}};
}

Json faster_copies(const Json& known, const Json& measured) {
  auto faster = measured;
  for (auto& [cores, copies] : faster.items()) {
    const auto before = known.is_object() ? known.value(cores, Json::object()) : Json::object();
    if (number_at(before, "copy_GBps").value_or(0) > number_at(copies, "copy_GBps").value_or(0)) {
      copies = before;
    }
  }
  return faster;
}

}  // namespace ucxbench
