#include <fmt/format.h>

#include <array>

#include "harness/analysis/imports/matrix_paste.hpp"
#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

/// What another tool or option prints, and what to give in its place.
struct OtherOutput {
  std::string_view sign;
  std::string_view name;
  std::string_view instead;
  bool beside_matrix;  ///< may stand in one paste with a matrix
};

constexpr std::string_view give_matrix = "give what nvidia-smi topo -m prints";
constexpr std::string_view give_xml = "give the XML of lstopo --of xml";

constexpr std::array<OtherOutput, 18> other_outputs = {{
    {"ROCm System Management Interface", "rocm-smi --showtopo", give_xml, false},
    {"Link Type between two GPUs", "rocm-smi --showtopo", give_xml, false},
    {"Hops between two GPUs", "rocm-smi --showtopo", give_xml, false},
    {"Weight between two GPUs", "rocm-smi --showtopo", give_xml, false},
    {"(Topology) ", "rocm-smi --showtopo", give_xml, false},
    {"ACCESS TABLE:", "amd-smi topology", give_xml, false},
    {"WEIGHT TABLE:", "amd-smi topology", give_xml, false},
    {"HOPS TABLE:", "amd-smi topology", give_xml, false},
    {"LINK TYPE TABLE", "amd-smi topology", give_xml, false},
    {"NUMA BW TABLE:", "amd-smi topology", give_xml, false},
    {"\"num_hops\"", "amd-smi topology --json", give_xml, false},
    {"Topology Information", "dcgmi topo", give_matrix, true},
    {"NUMANode L#", "lstopo as text", give_xml, true},
    {"| NVIDIA-SMI ", "nvidia-smi without topo -m", give_matrix, true},
    {"(UUID: GPU-", "nvidia-smi -L", give_matrix, true},
    {"Attached GPUs", "nvidia-smi -q", give_matrix, true},
    {"hca_id:", "ibv_devinfo", give_matrix, true},
    {"CA type:", "ibstat", give_matrix, true},
}};

}  // namespace

void refuse_other_output(std::string_view text, bool no_matrix) {
  for (const auto& other : other_outputs) {
    if ((other.beside_matrix && !no_matrix) || text.find(other.sign) == std::string_view::npos) {
      continue;
    }
    throw Failure(Exit::usage,
                  fmt::format("no matrix of nvidia-smi topo -m in it: this is what {} prints; {}",
                              other.name, other.instead));
  }
}

}  // namespace ucxbench
