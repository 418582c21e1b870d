#include <fmt/format.h>

#include <algorithm>

#include "harness/analysis/rules/rules.hpp"
#include "harness/core/units.hpp"
#include "harness/result/interval.hpp"
#include "harness/result/media.hpp"
#include "harness/result/paths.hpp"
#include "harness/result/transports.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr double times_as_fast = 2;

/// The same case of the other API; null: it was not measured.
const Case* same_by(const Judged& run, const Case& of, const char* api) {
  auto wanted = of.parameters;
  wanted["api"] = api;
  for (const auto& block : run.blocks) {
    for (const auto* other : block.measured) {
      if (other->parameters == wanted && other->benchmark == of.benchmark) return other;
    }
  }
  return nullptr;
}

struct PutAndGet {
  const Case* put = nullptr;
  const Case* get = nullptr;
  double put_GBps = 0, get_GBps = 0;  ///< 0: not measured

  double ratio() const {
    const auto [low, high] = std::minmax(put_GBps, get_GBps);
    if (low <= 0) return 1;
    const auto& slow = put_GBps < get_GBps ? *put : *get;
    const auto& fast = put_GBps < get_GBps ? *get : *put;
    return may_be_alike(slow, fast, "bandwidth_GBps") ? 1 : high / low;
  }
  std::string carriers(const Case& of) const { return carriers_in_words(of.path); }
  bool other_carriers() const {
    return !carriers(*put).empty() && !carriers(*get).empty() && carriers(*put) != carriers(*get);
  }
  /// "put" or "get", if that alone needs the target's CPU.
  std::string helped() const {
    const auto of_put = text_at(put->path, "/target_progress", "");
    const auto of_get = text_at(get->path, "/target_progress", "");
    if (of_put.empty() || of_get.empty() || of_put == of_get) return "";
    return of_put == "needed" ? "put" : "get";
  }
  bool differ() const { return ratio() > times_as_fast || other_carriers() || !helped().empty(); }
};

std::string in_words(const PutAndGet& both) {
  std::string words = size_of(*both.put) + ":";
  if (both.put_GBps > 0 && both.get_GBps > 0) {
    words += fmt::format(" put {}{} GB/s, get {}{};", significant(both.put_GBps, 3),
                         interval_behind(interval_of(*both.put, "bandwidth_GBps")),
                         significant(both.get_GBps, 3),
                         interval_behind(interval_of(*both.get, "bandwidth_GBps")));
  }
  if (both.other_carriers()) {
    words += fmt::format(" put over {}, get over {};", both.carriers(*both.put),
                         both.carriers(*both.get));
  } else if (!both.helped().empty()) {
    words += fmt::format(" {} alone needs the target's CPU;", both.helped());
  }
  words.pop_back();
  return words;
}

std::string what_to_set(const PutAndGet& both) {
  if (share_over(Fabric::gpu_links, both.put->path) > 0 && !carried_by(both.get->path).empty() &&
      share_over(Fabric::gpu_links, both.get->path) == 0) {
    return "set --ucx UCX_CUDA_IPC_ENABLE_GET_ZCOPY=on";
  }
  const auto helped = both.ratio() > times_as_fast ? "" : both.helped();
  if (helped.empty() && both.put_GBps == both.get_GBps)
    return "measure both again, and compare them";
  const bool put = helped.empty() ? both.put_GBps > both.get_GBps : helped == "get";
  const auto* const better = put ? "put" : "get";
  return fmt::format("use {}, posted by the {}", better, put ? "sender" : "receiver");
}

}  // namespace

std::vector<Finding> put_and_get(const Judged& run) {
  std::vector<Finding> findings;
  for (const auto& block : run.blocks) {
    std::optional<PutAndGet> worst;
    for (const auto* put : block.measured) {
      if (text_at(put->parameters, "/api") != "put") continue;
      const auto* get = same_by(run, *put, "get");
      if (get == nullptr) continue;
      PutAndGet both{.put = put, .get = get};
      if (!run.leaves_out(*put) && !run.leaves_out(*get)) {
        both.put_GBps = p50_of(*put, "bandwidth_GBps").value_or(0);
        both.get_GBps = p50_of(*get, "bandwidth_GBps").value_or(0);
      }
      if (both.differ() && (!worst || both.ratio() >= worst->ratio())) worst = both;
    }
    if (!worst) continue;
    auto subject = block.title;
    if (const auto at = subject.find(" put"); at != std::string::npos) {
      subject.replace(at, 4, " put and get");
    }
    findings.push_back(
        {.subject = std::move(subject), .evidence = in_words(*worst), .next = what_to_set(*worst)});
  }
  return findings;
}

}  // namespace ucxbench
