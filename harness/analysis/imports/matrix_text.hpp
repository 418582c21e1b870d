#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/topology/graph.hpp"

namespace ucxbench {

/// A device as nvidia-smi's matrix has it.
struct MatrixDevice {
  std::string name;
  std::string alias;                     ///< of a NIC0 …: its name in the legend
  std::string model;                     ///< of a GPU: from the list of nvidia-smi -L
  std::optional<std::vector<int>> cpus;  ///< CPU affinity, ascending
  std::optional<int> numa_node;          ///< NUMA affinity, where it is one node
  int line = 0;                          ///< of its row; 0: there is none

  bool is_gpu() const { return name.starts_with("GPU"); }
};

struct Matrix {
  std::vector<MatrixDevice> devices;
  /// By the devices' indices, the lower one first; a pair of which no row is there is missing.
  std::map<std::pair<std::size_t, std::size_t>, PathClass> classes;
  bool without_nvlinks = false;       ///< as of nvidia-smi topo -mp, which leaves them out
  std::vector<std::string> warnings;  ///< what is doubtful, a line each
};

/// What of a whole matrix is doubtful: rows that are missing, affinities that contradict each other
/// or the classes, classes that contradict each other, names that the legend or nvidia-smi -L lacks
/// or has twice, more NVLinks than a GPU has.
std::vector<std::string> doubts_of(const Matrix& matrix);

/// Throws Failure(Exit::usage), with the line's number.
Matrix parse_matrix(std::string_view text);

/// The wiring that such classes follow from: devices that are PIX to each other share a switch,
/// and so on upwards; NVLinks lead to a switch where a GPU would need more of them than it has.
Graph graph_of_matrix(const Matrix& matrix);

}  // namespace ucxbench
