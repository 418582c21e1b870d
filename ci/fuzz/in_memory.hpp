#pragma once

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "harness/core/fd.hpp"

namespace ucxbench {

/// A file without a place on disk, for readers that take a path.
class InMemory {
 public:
  InMemory(const std::uint8_t* data, std::size_t size) : file_(::memfd_create("input", 0)) {
    if (!file_ || ::write(file_.get(), data, size) != static_cast<ssize_t>(size)) std::abort();
  }
  std::string path() const { return fmt::format("/proc/self/fd/{}", file_.get()); }

 private:
  Fd file_;
};

}  // namespace ucxbench
