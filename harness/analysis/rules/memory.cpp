#include <fmt/format.h>

#include <algorithm>

#include "harness/analysis/rules/rules.hpp"
#include "harness/result/labels.hpp"
#include "harness/result/media.hpp"
#include "harness/result/paths.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr double times_as_slow = 2;
/// Below, messages to and from GPUs are staged whatever their memory, and start-up decides.
constexpr std::uint64_t staged_below = 1U << 16U;

/// What cudaMalloc, or the host's own pages, would be in its place.
std::string plain_kind(const std::string& kind) {
  const auto place = place_of_memory(kind);
  return place == "managed" ? "cuda" : place;
}

/// The same case with plain memory; null: it was not measured, or this is it.
const Case* with_plain_memory(const Judged& run, const Case& of) {
  const auto memory = of.parameters.find("memory");
  if (memory == of.parameters.end()) return nullptr;
  auto wanted = of.parameters;
  auto kinds = texts_of(*memory);
  for (auto& kind : kinds) kind = plain_kind(kind);
  wanted["memory"] = kinds;
  if (wanted == of.parameters) return nullptr;
  for (const auto& block : run.blocks) {
    for (const auto* other : block.measured) {
      if (other->parameters == wanted && other->benchmark == of.benchmark) return other;
    }
  }
  return nullptr;
}

std::string carriers(const Case& of) { return carriers_in_words(of.path); }

/// What carried more of the bytes than all else.
std::string main_carrier(const Case& of) {
  for (const auto& [member, share] : carried_by(of.path)) {
    if (share > 0.5) return member;
  }
  return "";
}

/// How UCX sends such messages, in its own words; empty where it does not say.
std::string protocol_in_words(const Case& of) {
  const auto protocols = of.path.find("protocols");
  if (protocols == of.path.end()) return "";
  for (const auto& row : *protocols) {
    const auto use = text_at(row, "/use", "");
    if (use == "bandwidth" || use == "latency") return text_at(row, "/protocol", "");
  }
  return "";
}

struct Slower {
  const Case* own = nullptr;
  const Case* plain = nullptr;
  double own_GBps = 0, plain_GBps = 0;  ///< 0: not measured, or of an emulated GPU

  double ratio() const {
    const bool known = own_GBps > 0 && !may_be_alike(*own, *plain, "bandwidth_GBps");
    return known ? plain_GBps / own_GBps : 1;
  }
  bool other_carrier() const {
    const auto a = main_carrier(*own);
    const auto b = main_carrier(*plain);
    return !a.empty() && !b.empty() && a != b;
  }
  /// Through buffers of UCX's own, say, instead of directly.
  bool other_protocol() const {
    const auto a = protocol_in_words(*own);
    const auto b = protocol_in_words(*plain);
    return !a.empty() && !b.empty() && a != b;
  }
  bool speaks() const { return ratio() > times_as_slow || other_carrier() || other_protocol(); }
};

/// "0.300 GB/s by tcp"
std::string rate_in_words(const Case& of, double GBps) {
  const auto by = carriers(of);
  std::vector<std::string> words;
  if (GBps > 0) words.push_back(significant(GBps, 3) + " GB/s");
  if (!by.empty()) words.push_back("by " + by);
  return join(words, " ");
}

std::string kinds_in_words(const Case& of) {
  auto kinds = texts_of(of.parameters.at("memory"));
  if (kinds.front() == kinds.back()) kinds.resize(1);
  return join(kinds, " to ");
}

std::string next_step(const Slower& worst) {
  const auto kinds = texts_of(worst.own->parameters.at("memory"));
  const auto has = [&](const char* kind) { return std::ranges::find(kinds, kind) != kinds.end(); };
  if (has("cuda:vmm")) return "use fabric handles, or cudaMalloc";
  if (has("host:huge")) return "use host, pages of the usual size";
  if (at_place(*worst.own, "host")) return "use memory of the process's own NUMA node";
  return "use cudaMalloc for messages";
}

}  // namespace

std::vector<Finding> memory_fallback(const Judged& run) {
  std::vector<Finding> findings;
  for (const auto& block : run.blocks) {
    std::optional<Slower> worst;
    for (const auto* own : block.measured) {
      if (bytes_of(*own).value_or(staged_below) < staged_below) continue;
      const auto* plain = with_plain_memory(run, *own);
      if (plain == nullptr) continue;
      Slower both{.own = own, .plain = plain};
      const bool count = !run.leaves_out(*own) && !run.leaves_out(*plain);
      if (count && !has_label(*own, Label::emulated_gpu)) {
        both.own_GBps = p50_of(*own, "bandwidth_GBps").value_or(0);
        both.plain_GBps = p50_of(*plain, "bandwidth_GBps").value_or(0);
      }
      if (both.speaks() && (!worst || both.ratio() >= worst->ratio())) worst = both;
    }
    if (!worst) continue;
    auto evidence = fmt::format(
        "{} {}, {} {}", size_of(*worst->own), rate_in_words(*worst->own, worst->own_GBps),
        kinds_in_words(*worst->plain), rate_in_words(*worst->plain, worst->plain_GBps));
    if (worst->other_protocol()) evidence += "; UCX: " + protocol_in_words(*worst->own);
    findings.push_back(
        {.subject = block.title, .evidence = std::move(evidence), .next = next_step(*worst)});
  }
  return findings;
}

}  // namespace ucxbench
