#include "workloads/svd/tree.hpp"

namespace ucxbench::svd {

Tree Tree::of(int rank, int ranks) {
  Tree tree;
  for (int distance = 1; distance < ranks; distance *= 2) {
    const int level = tree.depth++;
    if (tree.parent) continue;
    if (rank % (2 * distance) != 0) {
      tree.parent = Edge{rank - distance, level};
    } else if (rank + distance < ranks) {
      tree.children.push_back({rank + distance, level});
    }
  }
  return tree;
}

}  // namespace ucxbench::svd
