#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "bench/kv/layout.hpp"
#include "harness/comm/registration.hpp"
#include "harness/memory/buffer.hpp"

namespace ucxbench::kv {

/// A rank's memory. Each layer is registered by itself: inference engines have a tensor for each.
class Cache {
 public:
  /// `memory` must outlive this.
  Cache(const UcxWorker& worker, const Layout& layout, int rank, Buffer& memory);

  /// The packed keys of all layers, for PeerCache.
  std::vector<std::uint8_t> keys() const;

  std::byte* data() const { return data_; }
  const Registration& layer(std::uint64_t number) const { return layers_[number]; }

 private:
  std::byte* data_;
  std::deque<Registration> layers_;
};

/// The memory of a rank on the other side.
class PeerCache {
 public:
  /// `keys`: Cache::keys() of the rank that `endpoint` leads to.
  PeerCache(ucp_ep_h endpoint, const std::vector<std::uint8_t>& keys);

  ucp_ep_h endpoint() const { return endpoint_; }
  const RemoteMemory& layer(std::uint64_t number) const { return layers_[number]; }

 private:
  ucp_ep_h endpoint_;
  std::deque<RemoteMemory> layers_;
};

}  // namespace ucxbench::kv
