#include "bench/pingpong/crew.hpp"

#include <sched.h>

#include "harness/topology/cpus.hpp"

namespace ucxbench::pingpong {
namespace {

constexpr int patience = 1000;  // looks in vain before another thread may have this CPU

std::vector<int> own_cpus(std::size_t threads) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return {};
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus.size() == threads ? cpus : std::vector<int>();
}

void wait_for(const std::atomic<std::size_t>& count, std::size_t value) {
  for (int in_vain = 0; count.load(std::memory_order_acquire) != value;) {
    if (++in_vain % patience == 0) sched_yield();
  }
}

}  // namespace

Crew::Crew(std::size_t threads) : cpus_(own_cpus(threads)), size_(threads) {
  for (std::size_t thread = 1; thread < threads; ++thread) {
    others_.emplace_back([this, thread] { live(thread); });
  }
}

Crew::~Crew() {
  over_ = true;
  runs_.fetch_add(1, std::memory_order_release);
  runs_.notify_all();
  for (auto& other : others_) other.join();
}

void Crew::run(const Work& work, const Work& idle) {
  work_ = &work;
  idle_ = &idle;
  ready_ = done_ = left_ = 0;
  cpu_set_t before;
  const bool bound = !cpus_.empty() && sched_getaffinity(0, sizeof before, &before) == 0;
  if (bound) pin_this_thread(cpus_.front());
  runs_.fetch_add(1, std::memory_order_release);
  runs_.notify_all();
  take_part(0);
  if (bound) sched_setaffinity(0, sizeof before, &before);
  if (failure_) std::rethrow_exception(failure_);
}

void Crew::live(std::size_t thread) {
  if (!cpus_.empty()) pin_this_thread(cpus_[thread]);
  for (std::uint32_t seen = 0;; ++seen) {
    runs_.wait(seen, std::memory_order_acquire);
    if (over_) return;
    take_part(thread);
  }
}

void Crew::attempt(const Work& what, std::size_t thread) {
  if (failed_.load(std::memory_order_relaxed)) return;
  try {
    what(thread);
  } catch (...) {
    if (!failed_.exchange(true)) failure_ = std::current_exception();
  }
}

void Crew::take_part(std::size_t thread) {
  ready_.fetch_add(1, std::memory_order_acq_rel);
  wait_for(ready_, size_);
  attempt(*work_, thread);
  done_.fetch_add(1, std::memory_order_acq_rel);
  for (int in_vain = 0; done_.load(std::memory_order_acquire) != size_;) {
    attempt(*idle_, thread);
    if (++in_vain % patience == 0) sched_yield();
  }
  // Nobody leaves while another still looks: the next run begins with these counts at 0.
  left_.fetch_add(1, std::memory_order_acq_rel);
  if (thread == 0) wait_for(left_, size_);
}

}  // namespace ucxbench::pingpong
