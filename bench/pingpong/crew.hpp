#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace ucxbench::pingpong {

/// Threads of a rank that do the same thing at the same time, again and again; the one that calls
/// is the first of them. Between two works the others sleep.
class Crew {
 public:
  using Work = std::function<void(std::size_t thread)>;

  /// Each is bound to a CPU of its own where this rank has just as many as threads.
  explicit Crew(std::size_t threads);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  std::size_t size() const { return size_; }

  /// All begin when the last is there. Returns when each has done its work, and throws what the
  /// first to fail threw. `idle` is what a thread does again and again that has done its
  /// own and waits for the others.
  void run(const Work& work, const Work& idle);

  /// One has failed, so that what others wait for may never come.
  const std::atomic<bool>& failed() const { return failed_; }

 private:
  void live(std::size_t thread);
  void take_part(std::size_t thread);
  void attempt(const Work& what, std::size_t thread);

  std::vector<int> cpus_;  ///< one for each; empty: not bound
  std::atomic<std::uint32_t> runs_{0};
  std::atomic<std::size_t> ready_{0}, done_{0}, left_{0};
  std::atomic<bool> failed_{false}, over_{false};
  const Work* work_ = nullptr;
  const Work* idle_ = nullptr;
  std::size_t size_;
  std::exception_ptr failure_;  ///< the first, written by who set failed_
  std::vector<std::thread> others_;
};

}  // namespace ucxbench::pingpong
