#pragma once

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "harness/core/ending.hpp"
#include "harness/core/failure.hpp"

namespace ucxbench {

/// A folder of its own that is gone at the end, with what programs left in it.
class WorkFolder {
 public:
  /// Throws Failure(Exit::usage) where nothing can be written in `parent`.
  explicit WorkFolder(const std::filesystem::path& parent) {
    auto name = (parent / ".ab-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw Failure(Exit::usage, fmt::format("cannot write to '{}': {}; choose another --folder",
                                             parent.string(), std::strerror(errno)));
    }
    folder_ = name;
    cleanup_.emplace(folder_);
  }
  ~WorkFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  const std::filesystem::path& path() const { return folder_; }

 private:
  std::filesystem::path folder_;
  std::optional<SignalCleanup> cleanup_;
};

}  // namespace ucxbench
