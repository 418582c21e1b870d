#include "harness/run/gpu_sharing.hpp"

#include <algorithm>

#include "harness/core/or_null.hpp"
#include "harness/launch/host_name.hpp"
#include "harness/result/labels.hpp"
#include "harness/run/hosts.hpp"
#include "harness/run/wire.hpp"

namespace ucxbench {
namespace {

template <typename Is>
bool any_two(const std::vector<Json>& gpus, Is is) {
  for (std::size_t a = 0; a < gpus.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (is_same_gpu(gpus[a], gpus[b]) && is(gpus[a], gpus[b])) return true;
    }
  }
  return false;
}

bool take_turns(const Json& a, const Json& b) { return a.at("mps") != true || b.at("mps") != true; }

// `speaking`: of the ranks that are labelled; `busy`: of all that work at the same time.
Json labels_of_gpus(const std::vector<Json>& speaking, const std::vector<Json>& busy,
                    const std::vector<std::string>& lanes) {
  Json all = Json::array();
  const auto add_if = [&](bool is, Label label) {
    if (is) all.push_back(to_string(label));
  };
  add_if(any_two(speaking, [](const Json&, const Json&) { return true; }), Label::same_gpu);
  add_if(any_two(busy, take_turns), Label::time_sliced);
  add_if(std::ranges::any_of(speaking, [](const Json& gpu) { return gpu.at("emulated") == true; }),
         Label::emulated_gpu);
  add_if(std::ranges::any_of(
             lanes, [](const std::string& lane) { return lane.find("/rxe") != std::string::npos; }),
         Label::soft_roce);
  return all;
}

}  // namespace

Json gpu_here(const std::optional<CudaDevice>& gpu) {
  if (!gpu) return nullptr;
  const auto boot = boot_id();
  return {{"machine", boot.empty() ? host_name() : boot},
          {"uuid", text_or_null(gpu->uuid)},
          {"pci", gpu->pci},
          {"mps", number_or_null(gpu->mps)},
          {"emulated", is_emulated(*gpu)}};
}

bool is_same_gpu(const Json& a, const Json& b) {
  if (a.is_null() || b.is_null() || a.at("machine") != b.at("machine")) return false;
  const bool have_uuids = !a.at("uuid").is_null() && !b.at("uuid").is_null();
  const auto* const by = have_uuids ? "uuid" : "pci";
  return a.at(by) == b.at(by);
}

GpusOfRanks::GpusOfRanks(Rendezvous& rendezvous, const std::optional<CudaDevice>& own,
                         const Rendezvous::Progress& progress) {
  if (!own) return;
  for (const auto& of_rank : rendezvous.all_gather("gpus", to_bytes(gpu_here(own)), progress)) {
    by_rank_.push_back(from_bytes(of_rank));
  }
}

Json GpusOfRanks::labels(int src, int dst, const std::vector<std::string>& lanes,
                         Others others) const {
  std::vector<Json> speaking;
  if (!by_rank_.empty()) {
    speaking.push_back(by_rank_.at(static_cast<std::size_t>(src)));
    if (src != dst) speaking.push_back(by_rank_.at(static_cast<std::size_t>(dst)));
  }
  return labels_of_gpus(speaking, others == Others::work ? by_rank_ : speaking, lanes);
}

Json GpusOfRanks::labels(const std::vector<std::string>& lanes) const {
  return labels_of_gpus(by_rank_, by_rank_, lanes);
}

}  // namespace ucxbench
