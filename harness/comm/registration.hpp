#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <span>

#include "harness/comm/worker.hpp"

namespace ucxbench {

/// Memory registered with every transport of a context that registers memory of its kind, for as
/// long as this object lives.
class Registration {
 public:
  Registration(const UcxWorker& worker, std::span<std::byte> memory);
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  ~Registration();

 private:
  ucp_context_h context_;
  ucp_mem_h handle_ = nullptr;
};

}  // namespace ucxbench
