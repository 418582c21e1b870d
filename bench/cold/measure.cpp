#include "bench/cold/measure.hpp"

#include <algorithm>

#include "harness/comm/registration.hpp"

namespace ucxbench::cold {
namespace {

// A message after a pause is slow for reasons of its own (caches, a processor that slept).
constexpr int messages_after_a_pause = 3;

}  // namespace

CaseMemory::CaseMemory(const Parameters& p, Buffer& known, const UcxWorker& worker,
                       const Clock& clock)
    : p_(p), known_(known), clock_(clock) {
  const auto kind = known.kind();
  if (p.buffers == Buffers::fresh) return;
  if (p.buffers == Buffers::pool) {
    const auto needed = MemoryPool::room_for({known.size(), known.size()});
    const auto start = clock.ticks();
    MemoryPool pool(kind, needs_cuda(kind) && p.pool_bytes != 0 ? p.pool_bytes : needed);
    once_["allocate_us"] = {us_since(start)};
    first_ = pool.take(p.bytes);
    second_ = pool.take(p.bytes);
    return;
  }
  {
    // Of an allocation that no message uses: a registration may outlive its handle in UCX's cache.
    Buffer fresh(kind, p.bytes);
    const auto start = clock.ticks();
    const Registration registration(worker, {fresh.data(), fresh.size()});
    once_["registration_us"] = {us_since(start)};
  }
  const auto start = clock.ticks();
  first_.emplace(kind, p.bytes);
  once_["allocate_us"] = {us_since(start)};
}

Figures CaseMemory::measure(Messages& messages) {
  auto figures = p_.buffers == Buffers::pool  ? measure_pool(messages)
                 : p_.buffers == Buffers::own ? measure_own(messages)
                                              : measure_fresh(messages);
  figures.insert(once_.begin(), once_.end());
  return figures;
}

Buffer& CaseMemory::spare() {
  if (!first_) first_.emplace(known_.kind(), p_.bytes);
  return *first_;
}

Figures CaseMemory::measure_pool(Messages& messages) {
  Figures figures;
  figures["pool_first_message_us"] = {first(messages, *first_)};
  figures["steady_us"] = steady(messages, *first_);
  figures["first_message_us"] = {first(messages, *second_)};
  return figures;
}

Figures CaseMemory::measure_own(Messages& messages) {
  Figures figures;
  figures["first_message_us"] = {first(messages, *first_)};
  figures["steady_us"] = steady(messages, *first_);
  return figures;
}

Figures CaseMemory::measure_fresh(Messages& messages) {
  Figures figures;
  // A sender writes what it sends; a receiver need not have touched what it receives into.
  const auto pages = messages.sends() ? Pages::touched : Pages::untouched;
  for (int i = 0; i < p_.iterations; ++i) {
    auto start = clock_.ticks();
    std::optional<Buffer> buffer(std::in_place, known_.kind(), p_.bytes, pages);
    figures["allocate_us"].push_back(us_since(start));
    figures["first_message_us"].push_back(first(messages, *buffer));
    start = clock_.ticks();
    buffer.reset();
    figures["release_us"].push_back(us_since(start));
  }
  return figures;
}

double CaseMemory::first(Messages& messages, Buffer& buffer) const {
  for (int i = 0; i < messages_after_a_pause; ++i) messages.timed(known_, p_.bytes);
  return messages.timed(buffer, p_.bytes);
}

std::vector<double> CaseMemory::steady(Messages& messages, Buffer& buffer) const {
  std::vector<double> us(static_cast<std::size_t>(p_.iterations));
  std::generate(us.begin(), us.end(), [&] { return messages.timed(buffer, p_.bytes); });
  return us;
}

}  // namespace ucxbench::cold
