#include "harness/host/copies.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
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

constexpr std::size_t kib = std::size_t{1} << 10U;
constexpr std::size_t mib = std::size_t{1} << 20U;
constexpr std::size_t most_rounds = 4;
// Threads that waited are woken one after the other; from then on until they begin together.
constexpr std::chrono::microseconds time_to_wake{100};
// Of a buffer. Touching memory for the first time is what takes long, of a virtual machine above
// all: all buffers together have this four times, as long as a core's leave its own caches.
constexpr std::size_t most_bytes = 64 * mib;
constexpr std::size_t least_bytes = 8 * mib;
// What caches hold: the first level, the second, the last. Message sizes are mostly powers of four
// or two, so that a limit of half their size is one of these.
constexpr std::array small_sizes = {8 * kib, 32 * kib, 128 * kib, 512 * kib, 2 * mib, 8 * mib};
constexpr std::size_t bytes_of_small_round = 16 * mib;
constexpr std::size_t most_pairs_of_cores = 6;  // all of four cores

/// Of `bytes`, copied `times` from one buffer into the other.
struct Round {
  std::size_t bytes, times;
  std::chrono::milliseconds enough;  ///< no round begins later after the first
};

/// Begins with a page, as buffers of messages do: memcpy is slower across cache lines.
class Place {
 public:
  explicit Place(std::size_t bytes)
      : memory_(std::make_unique_for_overwrite<std::byte[]>(bytes + page)),
        offset_((page - reinterpret_cast<std::uintptr_t>(memory_.get()) % page) % page) {}
  std::byte* begin() const { return memory_.get() + offset_; }

 private:
  static constexpr std::size_t page = 4096;
  std::unique_ptr<std::byte[]> memory_;
  std::size_t offset_;
};

/// One thread's buffers, and when it copied. Only the thread itself touches them, so that they lie
/// in its own NUMA node.
struct Copier {
  std::size_t bytes;
  Place from, into;
  bool touched = false;
  std::array<CopyClock::time_point, most_rounds> begins{}, ends{};

  explicit Copier(std::size_t all) : bytes(all), from(all), into(all) {}
};

void copy(const std::byte* from, std::byte* into, std::size_t bytes) {
  std::memcpy(into, from, bytes);
  asm volatile("" : : "r"(into) : "memory");  // or nobody would need the copy
}

double best_GBps(std::span<const Copier> copiers, const Round& of, std::size_t rounds) {
  const auto bytes = static_cast<double>(copiers.size() * of.bytes * of.times);
  double best = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    auto begin = copiers.front().begins[round];
    auto end = copiers.front().ends[round];
    for (const auto& copier : copiers) {
      begin = std::min(begin, copier.begins[round]);
      end = std::max(end, copier.ends[round]);
    }
    const auto seconds = std::chrono::duration<double>(end - begin).count();
    best = std::max(best, bytes / seconds / 1e9);
  }
  return best;
}

/// GB/s of the beginning of each one's buffers; empty where the system refuses a thread.
std::optional<double> copy_on(const std::vector<int>& cpus, std::span<Copier> copiers,
                              const Round& of) {
  std::size_t rounds = 0;
  bool more = true;
  CopyClock::time_point first;
  CopyClock::time_point start;
  std::barrier together(static_cast<std::ptrdiff_t>(cpus.size()), [&]() noexcept {
    const auto now = CopyClock::now();
    if (rounds == 0) first = now;
    more = rounds < most_rounds && now - first < of.enough;
    rounds += more ? 1 : 0;
    start = now + time_to_wake;
  });
  const auto work = [&](Copier& copier, int cpu) {
    pin_this_thread(cpu);  // what may not be pinned is measured where it is
    const auto* from = copier.from.begin();
    auto* into = copier.into.begin();
    if (!copier.touched) std::memset(copier.from.begin(), 1, copier.bytes);
    copy(from, into, copier.touched ? of.bytes : copier.bytes);  // warm-up
    copier.touched = true;
    for (std::size_t round = 0;; ++round) {
      together.arrive_and_wait();
      if (!more) return;
      while (CopyClock::now() < start) continue;
      copier.begins[round] = CopyClock::now();
      for (std::size_t time = 0; time < of.times; ++time) copy(from, into, of.bytes);
      copier.ends[round] = CopyClock::now();
    }
  };
  bool refused = false;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < cpus.size(); ++i) {
      try {
        threads.emplace_back(work, std::ref(copiers[i]), cpus[i]);
      } catch (const std::system_error&) {
        refused = true;
        together.arrive_and_drop();  // or the others would wait for it
      }
    }
  }
  return refused ? std::nullopt : std::optional(best_GBps(copiers, of, rounds));
}

/// All that is measured on these CPUs: out of caches with `bytes` of each, and in them.
Json copies_on(const std::vector<int>& cpus, std::span<Copier> copiers, std::size_t bytes) {
  constexpr std::chrono::milliseconds enough{50};
  constexpr std::chrono::milliseconds enough_of_small{4};
  const auto at_large = copy_on(cpus, copiers, {bytes, 1, enough});
  Json by_size = Json::array();
  for (const auto small : small_sizes) {
    const Round round{small, bytes_of_small_round / small, enough_of_small};
    by_size.push_back(
        {{"bytes", small}, {"copy_GBps", number_or_null(copy_on(cpus, copiers, round))}});
  }
  return {{"cpus", cpus},
          {"bytes", bytes},
          {"copy_GBps", number_or_null(at_large)},
          {"by_size", std::move(by_size)}};
}

/// What two readings of the clock take, which is in every time.
double clock_cost_s() {
  auto least = std::numeric_limits<double>::max();
  for (int time = 0; time < 100; ++time) {
    const auto begin = CopyClock::now();
    least = std::min(least, std::chrono::duration<double>(CopyClock::now() - begin).count());
  }
  return least;
}

/// GB/s at which `reader` copied what `writer` had just written on its core: the best of all copies
/// in a few milliseconds. Empty where the system refuses a thread or a CPU.
std::optional<double> copy_between(int writer_cpu, const Copier& writer, int reader_cpu,
                                   const Copier& reader, std::size_t bytes) {
  constexpr std::chrono::milliseconds enough{4};
  constexpr int least_copies = 3;
  std::atomic<int> written{0};
  std::atomic<int> copied{0};
  std::atomic<bool> over{false};
  auto best_s = std::numeric_limits<double>::max();
  const auto write = [&] {
    const bool bound = pin_this_thread(writer_cpu);
    for (int round = 1; bound && !over; ++round) {
      std::memset(writer.from.begin(), round, bytes);
      written.store(round, std::memory_order_release);
      while (copied.load(std::memory_order_acquire) < round && !over) continue;
    }
    if (!bound) over = true;
  };
  const auto read = [&] {
    const bool bound = pin_this_thread(reader_cpu);
    const auto first = CopyClock::now();
    for (int round = 1; bound && !over; ++round) {
      while (written.load(std::memory_order_acquire) < round && !over) continue;
      if (over) break;
      best_s = std::min(best_s, timed_copy(writer.from.begin(), reader.into.begin(), bytes));
      copied.store(round, std::memory_order_release);
      if (round >= least_copies && CopyClock::now() - first > enough) break;
    }
    over = true;
  };
  try {
    const std::jthread writing(write);
    try {
      const std::jthread reading(read);
    } catch (const std::system_error&) {
      over = true;
    }
  } catch (const std::system_error&) {
    return std::nullopt;
  }
  const auto seconds = best_s - clock_cost_s();
  const bool known = best_s < std::numeric_limits<double>::max() && seconds > 0;
  return known ? std::optional(static_cast<double>(bytes) / seconds / 1e9) : std::nullopt;
}

/// Of the first pairs of these CPUs, each of which has a Copier that touched its buffers.
Json copies_between(const std::vector<int>& cpus, std::span<const Copier> copiers) {
  Json pairs = Json::array();
  for (std::size_t reader = 1; reader < cpus.size(); ++reader) {
    for (std::size_t writer = 0; writer < reader; ++writer) {
      if (pairs.size() == most_pairs_of_cores) return pairs;
      if (cpus[writer] == cpus[reader]) continue;
      Json by_size = Json::array();
      for (const auto bytes : small_sizes) {
        const auto rate =
            copy_between(cpus[writer], copiers[writer], cpus[reader], copiers[reader], bytes);
        by_size.push_back({{"bytes", bytes}, {"copy_GBps", number_or_null(rate)}});
      }
      pairs.push_back({{"cpus", {cpus[writer], cpus[reader]}}, {"by_size", std::move(by_size)}});
    }
  }
  return pairs;
}

Json unknown_on(const std::vector<int>& cpus, std::size_t bytes) {
  return {{"cpus", cpus}, {"bytes", bytes}, {"copy_GBps", nullptr}, {"by_size", Json::array()}};
}

void keep_faster(const Json& before, Json& now) {
  const auto rate = number_at(before, "copy_GBps");
  if (now.is_object() && rate > number_at(now, "copy_GBps")) now["copy_GBps"] = *rate;
}

void keep_faster_sizes(const Json& before, Json& now) {
  if (!before.is_object()) return;
  keep_faster(before, now);
  if (!now.contains("by_size")) return;
  for (auto& size : now["by_size"]) {
    for (const auto& then : before.value("by_size", Json::array())) {
      if (number_at(then, "bytes") == number_at(size, "bytes")) keep_faster(then, size);
    }
  }
}

}  // namespace

double timed_copy(const std::byte* from, std::byte* into, std::size_t bytes) {
  const auto begin = CopyClock::now();
  copy(from, into, bytes);
  return std::chrono::duration<double>(CopyClock::now() - begin).count();
}

Json measure_copies(const std::vector<int>& cpus) {
  const auto each = std::clamp(2 * most_bytes / cpus.size(), least_bytes, most_bytes);
  auto alone = unknown_on({cpus.front()}, most_bytes);
  auto all = unknown_on(cpus, each);
  auto between = Json::array();
  try {
    std::vector<Copier> copiers;
    copiers.emplace_back(most_bytes);
    while (copiers.size() < cpus.size()) copiers.emplace_back(each);
    alone = copies_on({cpus.front()}, std::span(copiers).first(1), most_bytes);
    all = copies_on(cpus, copiers, each);
    between = copies_between(cpus, copiers);
  } catch (const std::bad_alloc&) {
    // What was measured until then is said.
  }
  return {{"one_core", std::move(alone)},
          {"all_cores", std::move(all)},
          {"between_cores", std::move(between)}};
}

Json faster_copies(const Json& known, const Json& measured) {
  auto faster = measured;
  for (auto& [cores, copies] : faster.items()) {
    const auto before = known.is_object() ? known.value(cores, Json()) : Json();
    if (copies.is_object()) {
      keep_faster_sizes(before, copies);
      continue;
    }
    for (auto& pair : copies) {
      const auto same = std::ranges::find_if(before, [&](const Json& then) {
        return then.value("cpus", Json()) == pair.value("cpus", Json());
      });
      if (same != before.end()) keep_faster_sizes(*same, pair);
    }
  }
  return faster;
}

}  // namespace ucxbench
