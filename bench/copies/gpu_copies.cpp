#include "bench/copies/gpu_copies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <numeric>
#include <span>

#include "harness/core/clock.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/pattern.hpp"
#include "harness/core/statistics.hpp"
#include "harness/memory/buffer.hpp"
#include "harness/memory/cuda_module.hpp"
#include "harness/memory/pinned.hpp"
#include "harness/topology/discover.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench::copies {
namespace {

constexpr int samples = 3;

/// A GPU with memory of its own and two streams.
struct Gpu {
  Gpu(int index, std::uint64_t bytes)
      : context(index), memory(MemoryKind::cuda, bytes), into(MemoryKind::cuda, bytes) {}

  CudaContext context;
  Buffer memory, into;
  CudaStream one, other;
};

/// Copies in one direction, in a stream.
struct Way {
  CudaStream& stream;
  std::byte* to;
  const std::byte* from;
};

/// All directions at once; their sum.
double GBps_of(const Asked& asked, std::span<const Way> ways) {
  std::vector<double> rates;
  for (int sample = -1; sample < samples; ++sample) {
    const auto copies = sample < 0 ? 1 : asked.copies;  // first a warm-up
    const auto began = monotonic_ns();
    for (int copy = 0; copy < copies; ++copy) {
      for (const auto& way : ways) way.stream.copy(way.to, way.from, asked.bytes);
    }
    for (const auto& way : ways) way.stream.finish([] {});
    const auto ns = static_cast<double>(monotonic_ns() - began);
    const auto bytes = static_cast<double>(asked.bytes) * copies * static_cast<double>(ways.size());
    if (sample >= 0) rates.push_back(bytes / ns);
  }
  return median(std::move(rates));
}

double GBps_of(const Asked& asked, const Way& way) { return GBps_of(asked, std::span(&way, 1)); }

void expect(std::span<const std::byte> bytes, std::uint64_t seed, const std::string& what) {
  if (const auto at = find_mismatch(bytes, seed)) {
    throw Failure(Exit::wrong_data,
                  fmt::format("wrong data at byte offset {} of {}: {}", *at, bytes.size(), what));
  }
}

/// The peak of the path between a GPU and a NUMA node, if the topology has it.
void add_link(const Graph& graph, const CudaDevice& gpu, HostCopies& copies) {
  const auto there = graph.find_pci(gpu.pci);
  const auto nodes = graph.of_kind(NodeKind::numa);
  const auto node = std::ranges::find_if(
      nodes, [&](std::size_t at) { return graph.nodes[at].numa_node == copies.node; });
  if (there == Node::none || node == nodes.end()) return;
  const auto path = path_between(graph, *node, there);
  if (!path.complete) return;
  copies.link_GBps = path.capacity_GBps;
  copies.link_source = path.source;
}

HostCopies with_host(const Asked& asked, Gpu& gpu, std::optional<int> node) {
  // With one node there is nothing to choose.
  const bool bound = memory_nodes().size() > 1;
  PinnedMemory from(asked.bytes, bound ? node : std::nullopt);
  PinnedMemory into(asked.bytes, bound ? node : std::nullopt);
  const auto seed = payload_seed(gpu.context.device().index, asked.bytes, 0);
  fill_pattern(from.bytes(), seed);
  const Way there{gpu.one, gpu.memory.data(), from.bytes().data()};
  const Way back{gpu.other, into.bytes().data(), gpu.memory.data()};
  HostCopies done{.gpu = gpu.context.device().index, .node = node};
  done.to_gpu_GBps = GBps_of(asked, there);
  done.to_host_GBps = GBps_of(asked, back);
  expect(into.bytes(), seed, fmt::format("GPU {} and back", done.gpu));
  // Into other memory, so that no copy reads what another writes.
  const Way apart{gpu.one, gpu.into.data(), from.bytes().data()};
  const std::array both = {apart, back};
  done.both_ways_GBps = GBps_of(asked, both);
  return done;
}

GpuCopies between(const Asked& asked, Gpu& from, Gpu& to) {
  const int source = from.context.device().index;
  const int target = to.context.device().index;
  from.context.make_current();
  const bool direct = source == target || from.context.reach(to.context);
  const auto seed = payload_seed(source, asked.bytes, 1);
  from.memory.fill(asked.bytes, seed);
  GpuCopies done{.from = source, .to = target, .direct = direct};
  done.GBps = GBps_of(asked, Way{from.one, to.into.data(), from.memory.data()});
  if (const auto at = to.into.mismatch(asked.bytes, seed)) {
    throw Failure(Exit::wrong_data, fmt::format("wrong data at byte offset {} of {}: GPU {} to {}",
                                                *at, asked.bytes, source, target));
  }
  return done;
}

std::vector<std::optional<int>> nodes() {
  std::vector<std::optional<int>> all;
  for (const auto node : memory_nodes()) all.emplace_back(node);
  if (all.empty()) all.emplace_back();
  return all;
}

}  // namespace

Copies measure(const Asked& asked) {
  const auto all = CudaDriver::get().devices();
  if (all.empty()) throw Failure(Exit::cannot_run, "no GPU: the CUDA driver lists none");
  auto indexes = asked.devices;
  if (indexes.empty()) {
    indexes.resize(all.size());
    std::iota(indexes.begin(), indexes.end(), 0);
  }
  Copies copies{.asked = asked};
  std::deque<Gpu> gpus;
  for (const auto index : indexes) {
    copies.gpus.push_back(gpus.emplace_back(index, asked.bytes).context.device());
    copies.emulated = copies.emulated || is_emulated(copies.gpus.back());
  }
  const auto graph = discover();
  for (auto& gpu : gpus) {
    gpu.context.make_current();
    for (const auto node : nodes()) {
      copies.host.push_back(with_host(asked, gpu, node));
      add_link(graph, gpu.context.device(), copies.host.back());
    }
  }
  for (auto& from : gpus) {
    for (auto& to : gpus) copies.between.push_back(between(asked, from, to));
  }
  return copies;
}

}  // namespace ucxbench::copies
