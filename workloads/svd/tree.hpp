#pragma once

#include <optional>
#include <vector>

namespace ucxbench::svd {

/// A rank's place in the binomial tree by which pairs of factors become one, at rank 0: on level l,
/// counted from 0, rank r takes that of rank r + 2^l, if it is a multiple of 2^(l+1).
struct Tree {
  struct Edge {
    int rank = 0;
    int level = 0;
  };
  std::vector<Edge> children;  ///< by level
  std::optional<Edge> parent;  ///< rank 0 has none
  int depth = 0;               ///< levels of the whole tree: ⌈log2 ranks⌉

  static Tree of(int rank, int ranks);
};

}  // namespace ucxbench::svd
