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

/// A GPU with memory of its own and two streams.
struct Gpu {
  Gpu(int index, std::uint64_t bytes)
      : context(index), memory(MemoryKind::cuda, bytes), into(MemoryKind::cuda, bytes) {}

  CudaContext context;
  Buffer memory, into;
  CudaStream one, other;
};

/// Where copies go: memory of a GPU, or of the host.
struct Place {
  Buffer* buffer;
  std::span<std::byte> on_host;

  explicit Place(Buffer& of_gpu) : buffer(&of_gpu) {}
  explicit Place(std::span<std::byte> host) : buffer(nullptr), on_host(host) {}

  std::byte* data() const { return buffer != nullptr ? buffer->data() : on_host.data(); }
  void poison(std::uint64_t bytes) const {
    if (buffer != nullptr) return buffer->poison(bytes);
    fill_pattern(on_host, poison_seed);
  }
  std::optional<std::size_t> mismatch(std::uint64_t bytes, std::uint64_t seed) const {
    return buffer != nullptr ? buffer->mismatch(bytes, seed) : find_mismatch(on_host, seed);
  }

 private:
  static constexpr std::uint64_t poison_seed = ~std::uint64_t{0};
};

/// Copies in one direction, in a stream, of contents by `seed`.
struct Way {
  CudaStream& stream;
  Place to;
  const std::byte* from;
  std::uint64_t seed;
  std::string what;
};

/// All directions at once; their sum.
std::optional<double> GBps_of(const Asked& asked, const Clock& clock, std::span<const Way> ways) {
  std::vector<double> rates;
  bool measurable = true;
  for (int sample = -1; sample < samples; ++sample) {
    const auto copies = sample < 0 ? 1 : asked.copies;  // first a warm-up
    // What that has copied shall not pass for what is timed.
    for (const auto& way : ways) {
      if (sample == 0) way.to.poison(asked.bytes);
    }
    const auto began = clock.ticks();
    for (int copy = 0; copy < copies; ++copy) {
      for (const auto& way : ways) way.stream.copy(way.to.data(), way.from, asked.bytes);
    }
    for (const auto& way : ways) way.stream.finish([] {});
    const auto ticks = clock.ticks() - began;
    const auto bytes = static_cast<double>(asked.bytes) * copies * static_cast<double>(ways.size());
    const auto per_s = clock.per_s(bytes, ticks);
    measurable = measurable && per_s;
    if (sample >= 0) rates.push_back(per_s.value_or(0) * 1e-9);
  }
  for (const auto& way : ways) {
    if (const auto at = way.to.mismatch(asked.bytes, way.seed)) {
      throw Failure(Exit::wrong_data, fmt::format("wrong data at byte offset {} of {}: {}", *at,
                                                  asked.bytes, way.what));
    }
  }
  if (!measurable) return std::nullopt;
  return median(std::move(rates));
}

std::optional<double> GBps_of(const Asked& asked, const Clock& clock, const Way& way) {
  return GBps_of(asked, clock, std::span(&way, 1));
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

HostCopies with_host(const Asked& asked, const Clock& clock, Gpu& gpu, std::optional<int> node) {
  // With one node there is nothing to choose.
  const bool bound = memory_nodes().size() > 1;
  PinnedMemory from(asked.bytes, bound ? node : std::nullopt);
  PinnedMemory into(asked.bytes, bound ? node : std::nullopt);
  const auto seed = payload_seed(gpu.context.device().index, asked.bytes, 0);
  fill_pattern(from.bytes(), seed);
  const auto number = gpu.context.device().index;
  const auto to_gpu = fmt::format("the host to GPU {}", number);
  const auto to_host = fmt::format("GPU {} to the host", number);
  const Way there{gpu.one, Place(gpu.memory), from.bytes().data(), seed, to_gpu};
  const Way back{gpu.other, Place(into.bytes()), gpu.memory.data(), seed, to_host};
  HostCopies done{.gpu = number, .node = node};
  done.to_gpu_GBps = GBps_of(asked, clock, there);
  done.to_host_GBps = GBps_of(asked, clock, back);
  // Into other memory, so that no copy reads what another writes.
  const Way apart{gpu.one, Place(gpu.into), from.bytes().data(), seed, to_gpu};
  const std::array both = {apart, back};
  done.both_ways_GBps = GBps_of(asked, clock, both);
  return done;
}

GpuCopies between(const Asked& asked, const Clock& clock, Gpu& from, Gpu& to) {
  const int source = from.context.device().index;
  const int target = to.context.device().index;
  from.context.make_current();
  const bool direct = source == target || from.context.reach(to.context);
  const auto seed = payload_seed(source, asked.bytes, 1);
  from.memory.fill(asked.bytes, seed);
  GpuCopies done{.from = source, .to = target, .direct = direct};
  done.GBps = GBps_of(asked, clock,
                      Way{from.one, Place(to.into), from.memory.data(), seed,
                          fmt::format("GPU {} to {}", source, target)});
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
  const auto clock = Clock::calibrate();
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
      copies.host.push_back(with_host(asked, clock, gpu, node));
      add_link(graph, gpu.context.device(), copies.host.back());
    }
  }
  for (auto& from : gpus) {
    for (auto& to : gpus) copies.between.push_back(between(asked, clock, from, to));
  }
  return copies;
}

}  // namespace ucxbench::copies
