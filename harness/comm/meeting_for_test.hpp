#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "harness/launch/rendezvous.hpp"

namespace ucxbench {

/// Where ranks that are threads of one process meet.
struct Meeting {
  std::mutex mutex;
  std::map<std::string, Rendezvous::Bytes, std::less<>> values;
  int arrivals = 0;
};

class MeetingRank : public Rendezvous {
 public:
  MeetingRank(Meeting& meeting, int rank, int size) : meeting_(meeting), rank_(rank), size_(size) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void put(std::string_view key, const Bytes& value, const Progress&) override {
    const std::lock_guard lock(meeting_.mutex);
    meeting_.values.emplace(key, value);
  }
  Bytes get(std::string_view key, const Progress& progress) override {
    for (;; wait(progress)) {
      const std::lock_guard lock(meeting_.mutex);
      const auto found = meeting_.values.find(key);
      if (found != meeting_.values.end()) return found->second;
    }
  }
  void barrier(const Progress& progress) override {
    const auto arrivals = [&](int more) {
      const std::lock_guard lock(meeting_.mutex);
      return meeting_.arrivals += more;
    };
    const int all = (arrivals(1) + size_ - 1) / size_ * size_;
    while (arrivals(0) < all) wait(progress);
  }
  void phase(std::string_view) override {}

 private:
  static void wait(const Progress& progress) {
    progress();
    std::this_thread::yield();  // there may be fewer processors than ranks
  }

  Meeting& meeting_;
  int rank_, size_;
};

}  // namespace ucxbench
