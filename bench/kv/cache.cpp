#include "bench/kv/cache.hpp"

#include <cstring>
#include <span>

#include "harness/core/announced.hpp"

namespace ucxbench::kv {

Cache::Cache(const UcxWorker& worker, const Layout& layout, int rank, Buffer& memory)
    : data_(memory.data()) {
  for (std::uint64_t layer = 0; layer < layout.layers(); ++layer) {
    const auto begin = layout.bytes_before_layer(rank, layer);
    const auto end = layout.bytes_before_layer(rank, layer + 1);
    layers_.emplace_back(worker, std::span(data_ + begin, end - begin));
  }
}

std::vector<std::uint8_t> Cache::keys() const {
  std::vector<std::uint8_t> all;
  for (const auto& layer : layers_) {
    const auto key = layer.key();
    const std::uint64_t bytes = key.size();
    const auto at = all.size();
    all.resize(at + sizeof bytes + key.size());
    std::memcpy(all.data() + at, &bytes, sizeof bytes);
    std::memcpy(all.data() + at + sizeof bytes, key.data(), key.size());
  }
  return all;
}

PeerCache::PeerCache(ucp_ep_h endpoint, const std::vector<std::uint8_t>& keys)
    : endpoint_(endpoint) {
  for (std::span rest(keys); !rest.empty();) {
    std::uint64_t bytes = 0;
    check_at_most({.count = sizeof bytes}, rest.size());
    std::memcpy(&bytes, rest.data(), sizeof bytes);
    rest = rest.subspan(sizeof bytes);
    check_at_most({.count = bytes}, rest.size());
    const auto key = rest.first(bytes);
    layers_.emplace_back(endpoint, std::vector(key.begin(), key.end()));
    rest = rest.subspan(bytes);
  }
}

}  // namespace ucxbench::kv
