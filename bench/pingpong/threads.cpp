#include "bench/pingpong/threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

namespace ucxbench::pingpong {
namespace {

class ThreadedLoops final : public Loops, public OneSided {
 public:
  ThreadedLoops(std::shared_ptr<Crew> crew, std::vector<std::unique_ptr<Loops>> loops,
                bool one_worker)
      : crew_(std::move(crew)), loops_(std::move(loops)), one_worker_(one_worker) {}

  void use(const LinkBuffers& buffers) override {
    const auto part = part_of_thread(buffers.room, static_cast<int>(loops_.size()));
    auto own = buffers;
    for (auto& loop : loops_) {
      loop->use(own);
      own.send += part;
      own.receive += part;
    }
  }

  Interval round_trips(std::uint64_t count, std::uint64_t* stamps) override {
    return together([&](std::size_t thread) {
      auto* own = stamps == nullptr ? nullptr : stamps + thread * (count + 1);
      return loops_[thread]->round_trips(count, own);
    });
  }
  Interval one_way(std::uint64_t count) override {
    return together([&](std::size_t thread) { return loops_[thread]->one_way(count); });
  }
  Interval both_ways(std::uint64_t count) override {
    return together([&](std::size_t thread) { return loops_[thread]->both_ways(count); });
  }

  // Nothing where they do not all say the same.
  std::string described() override {
    std::vector<std::string> words(loops_.size());
    each([&](std::size_t thread) { words[thread] = loops_[thread]->described(); });
    return std::ranges::count(words, words.front()) == std::ssize(words) ? words.front() : "";
  }
  void flush() override {
    each([&](std::size_t thread) { loops_[thread]->flush(); });
  }
  void meet() override {
    each([&](std::size_t thread) { loops_[thread]->meet(); });
  }
  void turn() override {
    for (auto& loop : loops_) {
      loop->turn();
      if (one_worker_) return;
    }
  }

  OneSided* one_sided() override { return loops_.front()->one_sided() == nullptr ? nullptr : this; }
  void expose(std::span<std::byte> memory) override {
    const auto part = part_of_thread(memory.size(), static_cast<int>(loops_.size()));
    for (std::size_t thread = 0; thread < loops_.size(); ++thread) {
      loops_[thread]->one_sided()->expose(memory.subspan(thread * part, part));
    }
  }
  void withdraw() override {
    for (auto& loop : loops_) loop->one_sided()->withdraw();
  }
  void carry_out(std::uint64_t count) override {
    each([&](std::size_t thread) { loops_[thread]->one_sided()->carry_out(count); });
  }
  void exchange_words(std::uint64_t round) override {
    each([&](std::size_t thread) { loops_[thread]->one_sided()->exchange_words(round); });
  }
  std::string wrong_value() const override {
    for (std::size_t thread = 0; thread < loops_.size(); ++thread) {
      auto wrong = loops_[thread]->one_sided()->wrong_value();
      if (!wrong.empty()) return fmt::format("{} (thread {})", wrong, thread);
    }
    return "";
  }
  void completions(std::uint64_t count, std::uint64_t* stamps) override {
    each([&](std::size_t thread) {
      auto* own = stamps == nullptr ? nullptr : stamps + thread * (count + 1);
      loops_[thread]->one_sided()->completions(count, own);
    });
  }
  void complete_one() override { loops_.front()->one_sided()->complete_one(); }

 private:
  struct alignas(64) OfThread {
    Interval time;
  };

  // `part` of all threads at once, as the peer's thread may need progress of this one's worker to
  // end.
  template <typename Part>
  void each(Part part) {
    crew_->run(part, [&](std::size_t thread) {
      if (!one_worker_) loops_[thread]->turn();
    });
  }

  // That, of a part which returns its time: from the first begin to the last end.
  template <typename Part>
  Interval together(Part part) {
    std::vector<OfThread> times(loops_.size());
    each([&](std::size_t thread) { times[thread].time = part(thread); });
    auto all = times.front().time;
    for (const auto& [time] : times) {
      all.begin = std::min(all.begin, time.begin);
      all.end = std::max(all.end, time.end);
    }
    return all;
  }

  std::shared_ptr<Crew> crew_;
  std::vector<std::unique_ptr<Loops>> loops_;
  bool one_worker_;
};

}  // namespace

std::unique_ptr<Loops> make_threaded_loops(std::shared_ptr<Crew> crew,
                                           std::vector<std::unique_ptr<Loops>> loops,
                                           bool one_worker) {
  return std::make_unique<ThreadedLoops>(std::move(crew), std::move(loops), one_worker);
}

std::vector<std::uint64_t> overlapping_iterations(std::span<const std::uint64_t> stamps,
                                                  int threads) {
  const auto of_thread = stamps.size() / static_cast<std::size_t>(threads);
  std::uint64_t from = 0;
  auto to = std::numeric_limits<std::uint64_t>::max();
  for (auto rest = stamps; !rest.empty(); rest = rest.subspan(of_thread)) {
    from = std::max(from, rest.front());
    to = std::min(to, rest[of_thread - 1]);
  }
  std::vector<std::uint64_t> ticks;
  for (auto rest = stamps; !rest.empty(); rest = rest.subspan(of_thread)) {
    for (std::size_t i = 1; i < of_thread; ++i) {
      if (rest[i - 1] >= from && rest[i] <= to) ticks.push_back(rest[i] - rest[i - 1]);
    }
  }
  return ticks;
}

}  // namespace ucxbench::pingpong
