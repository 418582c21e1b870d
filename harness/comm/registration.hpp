#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

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

  /// Where it is, and the key to it: what a peer needs to put there, get from there, or change it.
  std::vector<std::uint8_t> key() const;
  /// For operations that read or write here themselves (ucp_request_param_t::memh).
  ucp_mem_h handle() const { return handle_; }

 private:
  ucp_context_h context_;
  std::span<std::byte> memory_;
  ucp_mem_h handle_ = nullptr;
};

/// The registration of what is used now: made anew when that is other memory.
class KeptRegistration {
 public:
  explicit KeptRegistration(const UcxWorker& worker) : worker_(worker) {}

  ucp_mem_h of(std::span<std::byte> memory) {
    if (!kept_ || memory.data() != memory_.data() || memory.size() != memory_.size()) {
      kept_.reset();
      kept_.emplace(worker_, memory);
      memory_ = memory;
    }
    return kept_->handle();
  }

 private:
  const UcxWorker& worker_;
  std::optional<Registration> kept_;
  std::span<std::byte> memory_;
};

/// A peer's registered memory, for operations over one endpoint, which must live longer.
class RemoteMemory {
 public:
  /// `key`: the peer's Registration::key().
  RemoteMemory(ucp_ep_h endpoint, const std::vector<std::uint8_t>& key);
  RemoteMemory(const RemoteMemory&) = delete;
  RemoteMemory& operator=(const RemoteMemory&) = delete;
  ~RemoteMemory();

  std::uint64_t address() const { return address_; }
  ucp_rkey_h key() const { return key_; }

 private:
  std::uint64_t address_ = 0;
  ucp_rkey_h key_ = nullptr;
};

}  // namespace ucxbench
