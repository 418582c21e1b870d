// nvidia-smi topo -m, hwloc's and NCCL's XML, and our own JSON; which of them is seen by the
// content.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ci/fuzz/refusal.hpp"
#include "harness/analysis/imports/import.hpp"
#include "harness/topology/path.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ucxbench;
  read_or_refuse([&] {
    const auto graph = import_topology_text({reinterpret_cast<const char*>(data), size});
    hash_of(graph);
    const auto devices = graph.devices();
    // Of many, all pairs would take longer than there is time for.
    for (std::size_t i = 0; i < devices.size() && i < 8; ++i) {
      nearest_nics(graph, devices[i]);
      path_between(graph, devices[i], devices.back());
    }
    graph_from_json(to_json(graph));
  });
  return 0;
}
