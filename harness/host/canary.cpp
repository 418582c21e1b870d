#include "harness/host/canary.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <vector>

#include "harness/core/failure.hpp"
#include "harness/core/fd.hpp"
#include "harness/host/copies.hpp"
#include "harness/result/samples.hpp"
#include "harness/topology/cpus.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t copies = 4;
constexpr std::size_t trip_samples = 200;
constexpr int trips_of_a_sample = 100;  // a round trip takes about as long as reading the clock

/// Keeps this thread on the first CPU that it may use, as long as this lives: a migration would be
/// a change of the host that is none.
class OnOneCpu {
 public:
  OnOneCpu() {
    if (sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &before_)) continue;
      pinned_ = pin_this_thread(cpu);
      return;
    }
  }
  ~OnOneCpu() {
    if (pinned_) sched_setaffinity(0, sizeof before_, &before_);
  }
  OnOneCpu(const OnOneCpu&) = delete;
  OnOneCpu& operator=(const OnOneCpu&) = delete;

 private:
  cpu_set_t before_{};
  bool pinned_ = false;
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Of one buffer. Copied from one end to the other, two that are together larger than the last-level
// cache leave nothing there that the next copy could use.
std::size_t beyond_caches() {
  constexpr std::size_t mib = std::size_t{1} << 20U;
  const auto last_level = static_cast<std::size_t>(std::max(0L, sysconf(_SC_LEVEL3_CACHE_SIZE)));
  return std::clamp(last_level / 8 * 5, 64 * mib, 512 * mib);
}

std::vector<double> copy_rates(std::size_t bytes) {
  const std::vector<std::byte> from(bytes, std::byte{1});
  std::vector<std::byte> into(bytes);
  std::vector<double> rates;
  for (std::size_t copy = 0; copy <= copies; ++copy) {
    const auto seconds = timed_copy(from.data(), into.data(), bytes);
    // The first one is warm-up.
    if (copy > 0) rates.push_back(static_cast<double>(bytes) / seconds / 1e9);
  }
  return rates;
}

void pass_byte(int from, int into) {
  char byte = 0;
  if (::write(from, &byte, 1) == 1 && ::read(into, &byte, 1) == 1) return;
  throw Failure(Exit::lost, fmt::format("canary: a socket pair broke: {}", std::strerror(errno)));
}

std::vector<double> round_trips_us() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw Failure(Exit::lost, fmt::format("canary: no socket pair: {}", std::strerror(errno)));
  }
  const Fd near_end(ends[0]);
  const Fd far_end(ends[1]);
  std::vector<double> trips;
  for (std::size_t sample = 0; sample < trip_samples; ++sample) {
    const auto begin = std::chrono::steady_clock::now();
    for (int trip = 0; trip < trips_of_a_sample; ++trip) {
      pass_byte(near_end.get(), far_end.get());
      pass_byte(far_end.get(), near_end.get());
    }
    trips.push_back(seconds_since(begin) * 1e6 / trips_of_a_sample);
  }
  return trips;
}

Json launch_of(const char* key, Json parameters, int launch, const std::string& metric,
               std::vector<double> values) {
  LaunchRecord record;
  record.launch = launch;
  record.dst = 0;
  record.iterations = values.size();
  record.samples[metric] = make_samples(std::move(values), trip_samples);
  return {
      {"canary",
       {{"key", key}, {"parameters", std::move(parameters)}, {"record", launch_to_json(record)}}}};
}

}  // namespace

std::vector<Json> measure_canary(int launch) {
  const OnOneCpu pinned;
  const auto bytes = beyond_caches();
  return {launch_of("canary/memcpy", {{"bytes", bytes}}, launch, "copy_GBps", copy_rates(bytes)),
          launch_of("canary/syscall", Json::object(), launch, "round_trip_us", round_trips_us())};
}

}  // namespace ucxbench
