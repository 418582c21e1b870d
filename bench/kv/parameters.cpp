#include "bench/kv/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bench/kv/models.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/units.hpp"

namespace ucxbench::kv {
namespace {

/// UCX's memory for an outstanding operation: 4.9 KiB over tcp, less over shared memory (measured
/// with UCX 1.13.1 and 100,000 of them); and that of its entry in our list.
constexpr double bytes_of_operation = 5 * 1024;
constexpr double bytes_of_entry = 16;
/// Of one decode rank, in any kind of memory.
constexpr double most_bytes = std::uint64_t{1} << 40U;

std::uint64_t sources(const Parameters& p) {
  return static_cast<std::uint64_t>(std::max(p.prefill / p.decode, 1));
}

void check_heads(const Parameters& p) {
  const auto& model = model_named(p.model);
  for (const auto& [option, ranks] : {std::pair("--prefill", p.prefill), {"--decode", p.decode}}) {
    if (model.heads % static_cast<std::uint64_t>(ranks) == 0) continue;
    throw Failure(
        Exit::usage,
        fmt::format("{} {}: {} has {}; give a number of ranks that divides it", option, ranks,
                    p.model,
                    model.heads == 1 ? "1 KV head" : fmt::format("{} KV heads", model.heads)));
  }
}

void check_memory(const Parameters& p, const Local& local) {
  const auto each = static_cast<double>(p.descriptors) * static_cast<double>(p.bytes);
  const auto origins = p.op == Api::get ? p.decode : p.prefill;
  auto outstanding = static_cast<double>(p.descriptors) * p.decode;
  if (p.window) outstanding = std::min(outstanding, 1.0 * origins * *p.window);
  double all = outstanding * bytes_of_operation +
               static_cast<double>(p.descriptors) * p.decode * bytes_of_entry;
  for (const auto kind : {p.sent_from(), p.received_into()}) {
    if (!on_gpu(kind)) all += p.decode * each;
  }
  const auto here = all * local.ranks / p.ranks;
  const auto available = static_cast<double>(local.memory_bytes);
  if (each <= most_bytes && here <= available) return;
  throw Failure(
      Exit::usage,
      fmt::format("--descriptors: {} of {} for each of {} decode ranks need more than the "
                  "available memory; give fewer, or a smaller --block or --tokens",
                  p.descriptors, spaced_size(p.bytes), p.decode));
}

}  // namespace

void settle(Parameters& p) {
  const auto& model = model_named(p.model);
  if (p.descriptors != 0 && p.bytes != 0) {
    if (p.tokens == 0) return;
    throw Failure(Exit::usage,
                  "--tokens: --descriptors and --block are given; leave out one of the three");
  }
  if (p.tokens == 0) p.tokens = usual_tokens;
  if (p.bytes == 0) {
    const auto pairs = static_cast<std::uint64_t>(std::max(p.prefill, p.decode));
    const auto heads = std::max<std::uint64_t>(model.heads / pairs, 1);
    p.bytes = heads * model.dimension * model.element * p.block_tokens;
  }
  if (p.descriptors == 0) {
    const auto blocks = (p.tokens - 1) / p.block_tokens + 1;
    p.descriptors = model.layers * model.tensors * sources(p) * std::min(blocks, most_descriptors);
  }
}

void check_case(const Parameters& p, const Local& local) {
  check_heads(p);
  if (p.descriptors > most_descriptors) {
    throw Failure(Exit::usage,
                  fmt::format("--descriptors: {} for each decode rank; expected at most {}",
                              p.descriptors, exact_count(most_descriptors)));
  }
  if (p.descriptors % sources(p) != 0) {
    throw Failure(Exit::usage,
                  fmt::format("--descriptors {}: each decode rank gets the same number from {} "
                              "prefill ranks; give a multiple of {}",
                              p.descriptors, sources(p), sources(p)));
  }
  if (p.bytes % 8 != 0) {
    throw Failure(Exit::usage, fmt::format("--block {}: give a multiple of 8 B, the unit in which "
                                           "contents are checked",
                                           exact_size(p.bytes)));
  }
  check_memory(p, local);
}

Layout layout_of(const Parameters& p) {
  return Layout({.prefill = p.prefill,
                 .decode = p.decode,
                 .layers = model_named(p.model).layers,
                 .descriptors = p.descriptors,
                 .bytes = p.bytes});
}

}  // namespace ucxbench::kv
