#pragma once

#include <cstdint>
#include <vector>

namespace ucxbench::kv {

/// Which ranks move blocks to which, and where the blocks are. Ranks 0, 1, … prefill, those after
/// them decode. Each side divides the heads over its ranks, in order. The number of ranks of one
/// side divides that of the other, so all descriptors have the same number of heads. With more
/// prefill than decode ranks, a decode rank gets each of its blocks in parts from several prefill
/// ranks; otherwise a prefill rank gives each of its blocks in parts to several decode ranks. A
/// rank's memory has one region for each layer, in order. The order of a layer's blocks differs
/// between prefill and decode ranks, as if each had taken them from its own list of free blocks.
class Layout {
 public:
  struct Shape {
    int prefill = 1, decode = 1;
    std::uint64_t layers = 1;
    std::uint64_t descriptors = 1;  ///< of a decode rank: a multiple of its prefill ranks
    std::uint64_t bytes = 8;        ///< of each
  };
  explicit Layout(const Shape& shape);

  const Shape& shape() const { return shape_; }
  bool decodes(int rank) const { return rank >= shape_.prefill; }

  /// The ranks of the other side that this rank has descriptors with, in order.
  const std::vector<int>& peers_of(int rank) const {
    return peers_[static_cast<std::size_t>(rank)];
  }

  /// The position of this rank among the peers of `peer`.
  std::size_t number_among_peers(int rank, int peer) const;

  /// Layers that have a block: fewer than the model has if there are fewer descriptors.
  std::uint64_t layers() const { return layers_; }
  /// Descriptors of each pair, in total and before a layer; they are in the order of layers.
  std::uint64_t of_pair() const { return of_pair_; }
  std::uint64_t before_layer(std::uint64_t layer) const { return of_pair_ * layer / layers_; }

  /// Bytes of a rank's memory, in total and before a layer.
  std::uint64_t bytes_of(int rank) const { return of_pair_ * block_of(rank); }
  std::uint64_t bytes_before_layer(int rank, std::uint64_t layer) const {
    return before_layer(layer) * block_of(rank);
  }

  /// The offset of a pair's descriptor in a rank's memory; `peer` is the position of the other rank
  /// among its peers.
  std::uint64_t place(int rank, std::size_t peer, std::uint64_t layer, std::uint64_t number) const;

  /// Bytes that all decode ranks get in a round.
  std::uint64_t bytes_of_round() const {
    return static_cast<std::uint64_t>(shape_.decode) * shape_.descriptors * shape_.bytes;
  }

 private:
  std::uint64_t block_of(int rank) const { return peers_of(rank).size() * shape_.bytes; }

  Shape shape_;
  std::vector<std::vector<int>> peers_;  ///< by rank
  std::uint64_t of_pair_, layers_;
};

}  // namespace ucxbench::kv
