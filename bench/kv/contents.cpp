#include "bench/kv/contents.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <span>
#include <vector>

#include "harness/core/pattern.hpp"

namespace ucxbench::kv {
namespace {

std::uint64_t seed(const Layout& layout, int prefill, std::uint64_t round) {
  return payload_seed(prefill, layout.shape().bytes, round);
}

}  // namespace

void fill(const Layout& layout, int rank, std::uint64_t round, Buffer& memory) {
  memory.fill(memory.size(), seed(layout, rank, round));
}

Checks check_blocks(const Layout& layout, int rank, std::uint64_t round, const Buffer& memory) {
  Checks checks;
  const auto bytes = layout.shape().bytes;
  const auto& peers = layout.peers_of(rank);
  std::vector<std::byte> staged(on_gpu(memory.kind()) ? bytes : 0);
  for (std::size_t peer = 0; peer < peers.size(); ++peer) {
    const auto here = layout.number_among_peers(rank, peers[peer]);
    for (std::uint64_t layer = 0; layer < layout.layers(); ++layer) {
      for (auto number = layout.before_layer(layer); number < layout.before_layer(layer + 1);
           ++number) {
        std::span block(memory.data() + layout.place(rank, peer, layer, number), bytes);
        if (!staged.empty()) {
          copy_bytes(memory.kind(), staged.data(), block.data(), bytes);
          block = staged;
        }
        const auto at = find_mismatch(block, seed(layout, peers[peer], round),
                                      layout.place(peers[peer], here, layer, number));
        checks.add(at ? fmt::format("wrong data at byte offset {} of {}: block {} of layer {}, "
                                    "rank {} from rank {}",
                                    *at, bytes, number - layout.before_layer(layer), layer, rank,
                                    peers[peer])
                      : std::string());
      }
    }
  }
  return checks;
}

}  // namespace ucxbench::kv
