#pragma once

#include <sys/epoll.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/core/fd.hpp"

namespace ucxbench {

/// The descriptors that one thread waits for together, in one epoll set: waiting costs nothing per
/// descriptor that has nothing to say.
class Events {
 public:
  using Tag = std::uint64_t;

  /// Throws Failure(Exit::cannot_run).
  Events();

  /// Waits for bytes, or the end, of `fd` too; `tag` says which it is. One that is closed is
  /// forgotten by itself. Throws Failure(Exit::cannot_run).
  void watch(int fd, Tag tag);
  void forget(int fd);

  /// The tags of those that have something, until the next call; none after `limit`.
  std::span<const Tag> wait(std::chrono::milliseconds limit);

 private:
  Fd set_;
  std::vector<epoll_event> entries_;
  std::vector<Tag> ready_;
};

}  // namespace ucxbench
