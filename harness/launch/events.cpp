#include "harness/launch/events.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

// Of one wait; what else is ready comes with the next one.
constexpr std::size_t most_at_once = 256;

}  // namespace

Events::Events() : set_(::epoll_create1(EPOLL_CLOEXEC)), entries_(most_at_once) {
  if (set_) return;
  throw Failure(Exit::cannot_run,
                fmt::format("cannot wait for the ranks: epoll_create1: {}", std::strerror(errno)));
}

void Events::watch(int fd, Tag tag) {
  epoll_event entry{};
  entry.events = EPOLLIN;
  entry.data.u64 = tag;
  if (::epoll_ctl(set_.get(), EPOLL_CTL_ADD, fd, &entry) == 0) return;
  throw Failure(Exit::cannot_run,
                fmt::format("cannot wait for the ranks: epoll_ctl: {}", std::strerror(errno)));
}

void Events::forget(int fd) { ::epoll_ctl(set_.get(), EPOLL_CTL_DEL, fd, nullptr); }

std::span<const Events::Tag> Events::wait(std::chrono::milliseconds limit) {
  const int count = ::epoll_wait(set_.get(), entries_.data(), static_cast<int>(entries_.size()),
                                 static_cast<int>(limit.count()));
  ready_.clear();
  for (int at = 0; at < count; ++at) {
    // A copy: the kernel's structure is packed, so that a reference would not be aligned.
    const Tag tag = entries_[static_cast<std::size_t>(at)].data.u64;
    ready_.push_back(tag);
  }
  return ready_;
}

}  // namespace ucxbench
