#pragma once

#include <cstdint>
#include <vector>

namespace ucxbench::kv {

/// Which ranks move blocks to which, and where they lie. Ranks 0, 1, … prefill, those after them
/// decode; each side has its share of the heads, in order. The number of one side divides the
/// other's, so that each descriptor is of as many heads: with more prefill than decode ranks a
/// decode rank takes a part of each of its blocks from several, else a prefill rank gives a part of
/// each of its blocks to several. A rank's memory has one region after the other, one for each
/// layer. The blocks of a layer lie in another order on prefill than on decode ranks, as they do
/// where both have taken them from their own lists of free ones.
class Layout {
 public:
  struct Shape {
    int prefill = 1, decode = 1;
    std::uint64_t layers = 1;
    std::uint64_t descriptors = 1;  ///< of a decode rank: a multiple of its sources
    std::uint64_t bytes = 8;        ///< of each
  };
  explicit Layout(const Shape& shape);

  const Shape& shape() const { return shape_; }
  bool decodes(int rank) const { return rank >= shape_.prefill; }

  /// Those on the other side that this rank has descriptors with, in order.
  const std::vector<int>& peers_of(int rank) const {
    return peers_[static_cast<std::size_t>(rank)];
  }

  /// Which of the peers of `peer` this rank is.
  std::size_t number_among_peers(int rank, int peer) const;

  /// Layers that have a block: fewer than the model has where there are fewer descriptors.
  std::uint64_t layers() const { return layers_; }
  /// Descriptors of each pair, in all and up to a layer; they are in the order of layers.
  std::uint64_t of_pair() const { return of_pair_; }
  std::uint64_t before_layer(std::uint64_t layer) const { return of_pair_ * layer / layers_; }

  /// Bytes of a rank's memory, in all and up to a layer.
  std::uint64_t bytes_of(int rank) const { return of_pair_ * block_of(rank); }
  std::uint64_t bytes_before_layer(int rank, std::uint64_t layer) const {
    return before_layer(layer) * block_of(rank);
  }

  /// Where, in a rank's memory, what it has of a descriptor of a pair is; `peer` is the number of
  /// the other one among its peers.
  std::uint64_t place(int rank, std::size_t peer, std::uint64_t layer, std::uint64_t number) const;

  /// Bytes that go between both sides in a round.
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
