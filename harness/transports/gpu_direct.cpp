#include "harness/transports/gpu_direct.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "harness/core/files.hpp"
#include "harness/core/json.hpp"
#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

namespace fs = std::filesystem;
using State = Ability::State;

// Where a driver shows itself by which the kernel lets other devices into GPU memory.
constexpr std::array peer_drivers = {"sys/kernel/mm/memory_peers/nv_mem/version",
                                     "sys/module/nvidia_peermem/version",
                                     "sys/module/nv_peer_mem/version"};

std::string peer_driver(const fs::path& root) {
  for (const auto* driver : peer_drivers) {
    if (fs::exists(root / driver)) return fs::path(driver).parent_path().filename();
  }
  return "";
}

// As UCX's parser takes it.
bool is_no(std::string_view value) {
  return value == "n" || value == "no" || value == "off" || value == "0";
}

bool enables_gdr_copy(const Variables& settings) {
  const auto set = settings.find("UCX_TLS");
  if (set == settings.end()) return true;
  const auto names = split_text(set->second, ',');
  return std::ranges::any_of(names, [](std::string_view name) {
    return name == "all" || name == "cuda" || name == "gdr_copy";
  });
}

}  // namespace

std::string_view to_string(State state) {
  switch (state) {
    case State::active:
      return "active";
    case State::absent:
      return "absent";
    case State::unknown:
      break;
  }
  return "unknown";
}

Ability gpu_direct_rdma(const UcxResources& resources, const Variables& settings,
                        const fs::path& root) {
  if (!resources.has_component("ib")) {
    return {State::absent, fmt::format("UCX {} has no InfiniBand", resources.version)};
  }
  if (entries_of(root / "sys/class/infiniband").empty()) {
    return {State::absent, "no RDMA device on this machine"};
  }
  const auto set = settings.find("UCX_IB_GPU_DIRECT_RDMA");
  if (set != settings.end() && is_no(set->second)) {
    return {State::absent, set->first + "=" + set->second};
  }
  if (!resources.has_transport("cuda_copy")) {
    return {State::absent, fmt::format("UCX {} finds no GPU", resources.version)};
  }
  const auto driver = peer_driver(root);
  if (!resources.registers_gpu_memory.empty()) {
    return {State::active, fmt::format("{} registers GPU memory through {}",
                                       fmt::join(resources.registers_gpu_memory, ", "),
                                       driver.empty() ? "a driver of its own" : driver)};
  }
  if (!resources.takes_dma_buf.empty()) {
    return {State::unknown, fmt::format("{} takes dma-bufs; whether the CUDA driver gives any was "
                                        "not asked",
                                        fmt::join(resources.takes_dma_buf, ", "))};
  }
  if (driver.empty()) {
    return {State::absent, "neither nvidia_peermem nor nv_peer_mem is loaded"};
  }
  // Before 1.18 UCX looks for the first of peer_drivers alone.
  return {State::absent, fmt::format("{} is loaded, but UCX {} registers no GPU memory", driver,
                                     resources.version)};
}

Ability gdr_copy(const UcxResources& resources, const Variables& settings, const fs::path& root) {
  if (!resources.has_component("gdr_copy")) {
    return {State::absent,
            fmt::format("UCX {} ({}) was built without it", resources.version, resources.library)};
  }
  if (!fs::exists(root / "dev/gdrdrv")) return {State::absent, "no driver (/dev/gdrdrv)"};
  if (!resources.has_transport("gdr_copy")) {
    return {State::absent, "UCX cannot use its driver (see the rights of /dev/gdrdrv) or no GPU"};
  }
  if (!enables_gdr_copy(settings)) {
    return {State::absent, "not enabled: --gdr on adds gdr_copy to UCX_TLS"};
  }
  return {State::active, "/dev/gdrdrv"};
}

Json describe_gpu_direct(const UcxResources& resources, const Variables& settings) {
  const auto described = [](const Ability& ability) {
    return Json{{"state", to_string(ability.state)}, {"why", ability.why}};
  };
  return {{"rdma", described(gpu_direct_rdma(resources, settings))},
          {"gdr_copy", described(gdr_copy(resources, settings))}};
}

}  // namespace ucxbench
