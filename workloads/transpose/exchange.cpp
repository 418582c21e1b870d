#include "workloads/transpose/exchange.hpp"

#include <span>

namespace ucxbench::transpose {

Exchange::Exchange(Communicator& comm, const Layout& layout, std::uint32_t iteration,
                   const double* x, double* ring, std::uint64_t slots)
    : comm_(comm),
      layout_(layout),
      rank_(static_cast<std::uint64_t>(comm.rank())),
      iteration_(iteration),
      x_(x),
      ring_(ring),
      slots_(slots),
      awaited_(layout.ranks),
      to_send_(layout.tiles_exchanged(rank_)),
      to_come_(to_send_) {
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) post(slot);
  poll();
}

// Also past pairs that have no tile of this number; the callers skip those.
void Exchange::advance(Place& place) const {
  place.distance = place.distance + 1;
  if (place.distance < layout_.ranks) return;
  place = {place.number + 1, 1};
}

std::uint64_t Exchange::label(std::uint64_t number) const {
  return std::uint64_t{iteration_ % 2} << 24U | number;  // there is a barrier between iterations
}

void Exchange::post(std::size_t slot) {
  if (posted_ == to_come_) return;
  for (;; advance(next_receive_)) {
    const auto from = (rank_ + layout_.ranks - next_receive_.distance) % layout_.ranks;
    if (next_receive_.number >= layout_.tiles_between(from, rank_)) continue;
    const auto number = next_receive_.number;
    const auto i = layout_.first_chunk(from) + number / layout_.own_chunks(rank_);
    const auto j = layout_.first_chunk(rank_) + number % layout_.own_chunks(rank_);
    auto* elements = ring_ + slot * layout_.tile(0, 0).elements();
    slots_[slot].tile = {i, j, elements, slot};
    awaited_[from].push_back(slot);
    comm_.receive(static_cast<int>(from), label(number),
                  std::as_writable_bytes(std::span(elements, layout_.tile(i, j).elements())),
                  slots_[slot].receive);
    break;
  }
  advance(next_receive_);
  ++posted_;
}

void Exchange::poll() {
  while (sent_ < to_send_ && sends_.in_flight < slots_.size()) {
    const auto to = (rank_ + next_send_.distance) % layout_.ranks;
    const auto number = next_send_.number;
    advance(next_send_);
    if (number >= layout_.tiles_between(rank_, to)) continue;
    const auto i = layout_.first_chunk(rank_) + number / layout_.own_chunks(to);
    const auto j = layout_.first_chunk(to) + number % layout_.own_chunks(to);
    ++sent_;
    comm_.send(
        static_cast<int>(to), label(number),
        std::as_bytes(std::span(x_ + layout_.place_in_x(i, j), layout_.tile(i, j).elements())),
        sends_);
  }
}

void Exchange::look() {
  for (auto& slots : awaited_) {
    while (!slots.empty() && slots_[slots.front()].receive.done()) {
      arrived_.push_back(slots.front());
      slots.pop_front();
    }
  }
}

std::optional<Arrival> Exchange::next() {
  if (arrived_.empty()) look();
  if (arrived_.empty()) return std::nullopt;
  const auto slot = arrived_.front();
  arrived_.pop_front();
  ++taken_;
  return slots_[slot].tile;
}

void Exchange::release(const Arrival& arrival) { post(arrival.slot); }

std::vector<Arrival> Exchange::last_of_each_slot() const {
  std::vector<Arrival> last;
  for (const auto& slot : slots_) {
    if (slot.tile.elements != nullptr) last.push_back(slot.tile);
  }
  return last;
}

bool Exchange::all_arrived() {
  look();
  return taken_ + arrived_.size() == to_come_;
}

}  // namespace ucxbench::transpose
