#include "workloads/transpose/transpose.hpp"

#include <fmt/format.h>

#include "workloads/transpose/formula.hpp"
#include "workloads/transpose/verdict.hpp"

namespace ucxbench::transpose {
namespace {

enum Phase : std::size_t { adding, shuffling };

double* elements_in(Buffer& buffer) { return reinterpret_cast<double*>(buffer.data()); }

}  // namespace

Transpose::Transpose(Communicator& comm, const Clock& clock, WorkloadMemory& memory,
                     const Parameters& p)
    : comm_(comm),
      clock_(clock),
      p_(p),
      layout_(p.layout()),
      rank_(static_cast<std::uint64_t>(comm.rank())),
      kernels_(on_gpu(p.kind()) ? make_cuda_kernels([this] { progress(); })
                                : make_cpu_kernels([this] { progress(); })),
      expected_(own_tiles()),
      made_(own_tiles()) {
  const auto slots = ring_slots(layout_, rank_, p_.bulk_synchronous);
  std::vector<std::size_t> sizes = {layout_.x_bytes(rank_), slots * layout_.tile(0, 0).bytes()};
  if (p_.keep()) sizes.push_back(layout_.y_bytes(rank_));
  buffers_ = memory.take(sizes);
  x_ = elements_in(buffers_[0]);
  ring_ = elements_in(buffers_[1]);
  if (p_.keep()) y_ = elements_in(buffers_[2]);
  for (auto i = layout_.first_chunk(rank_); i < layout_.first_chunk(rank_ + 1); ++i) {
    for (std::uint64_t j = 0; j < layout_.chunks(); ++j) {
      const auto tile = layout_.tile(i, j);
      kernels_->generate(layout_.size, tile, x_ + layout_.place_in_x(i, j));
      expected_[index_of(i, j)] = expected(layout_.size, tile, [this] { progress(); });
    }
  }
}

void Transpose::begin_exchange(std::uint32_t number) {
  exchange_.emplace(comm_, layout_, number, x_, ring_,
                    ring_slots(layout_, rank_, p_.bulk_synchronous));
}

// A tile of the run before is wrong in this one: its first element is another whole number.
void Transpose::stamp(std::uint32_t number) {
  constexpr std::uint64_t most = 512;
  stamp_ = number % most;
  for (auto i = layout_.first_chunk(rank_); i < layout_.first_chunk(rank_ + 1); ++i) {
    for (std::uint64_t j = 0; j < layout_.chunks(); ++j) {
      const auto tile = layout_.tile(i, j);
      const auto first =
          static_cast<double>(element_at(layout_.size, tile.first_row, tile.first_column) + stamp_);
      copy_bytes(p_.kind(), x_ + layout_.place_in_x(i, j), &first, sizeof first);
    }
  }
}

// Of a rank that waits.
void Transpose::step() {
  comm_.wait_a_step();
  exchange_->poll();
}

void Transpose::progress() {
  const auto began = clock_.ticks();
  comm_.progress();
  if (exchange_) exchange_->poll();
  // A GPU computes meanwhile.
  if (!on_gpu(p_.kind())) clock_of_phases_.progressed(clock_.ticks() - began);
}

// All tiles to where they go; each that has come is taken, and its place is free.
void Transpose::exchange(std::uint32_t number, const std::function<void(const Arrival&)>& take) {
  begin_exchange(number);
  while (!exchange_->all_taken() || !exchange_->sent()) {
    step();
    while (const auto arrival = exchange_->next()) {
      take(*arrival);
      exchange_->release(*arrival);
    }
  }
}

ExchangeAlone Transpose::exchange_alone() {
  const auto carry_out = [this](std::uint32_t number) {
    exchange(number, [](const Arrival&) {});
    return layout_.bytes_exchanged(rank_);
  };
  const auto verify = [this] {
    std::string error;
    for (const auto& arrival : exchange_->last_of_each_slot()) {
      if (error.empty()) error = wrong_in(arrival);
    }
    return error;
  };
  const auto verify_each = [this](std::uint32_t number) {
    std::string error;
    exchange(number, [&](const Arrival& arrival) {
      if (error.empty()) error = wrong_in(arrival);
    });
    return error;
  };
  return {.carry_out = carry_out, .verify = verify, .verify_each = verify_each};
}

std::string Transpose::wrong_in(const Arrival& arrival) {
  const auto tile = layout_.tile(arrival.i, arrival.j);
  std::vector<double> elements(tile.elements());
  copy_bytes(p_.kind(), elements.data(), arrival.elements, tile.bytes());
  for (std::uint64_t at = 0; at < elements.size(); ++at) {
    const auto row = tile.first_row + at / tile.columns;
    const auto column = tile.first_column + at % tile.columns;
    if (elements[at] == static_cast<double>(element_at(layout_.size, row, column))) continue;
    return fmt::format("rank {}: element ({}, {}) of x came as {}", rank_, row, column,
                       elements[at]);
  }
  return "";
}

void Transpose::add(std::uint64_t i, std::uint64_t j, const double* t) {
  clock_of_phases_.enter(adding, clock_.ticks());
  const auto tile = layout_.tile(i, j);
  const auto* x = x_ + layout_.place_in_x(i, j);
  if (p_.keep()) {
    kernels_->add(tile, x, t, y_ + layout_.place_in_y(i, j));
  } else {
    made_[index_of(i, j)] = kernels_->add_to_sum(tile, x, t);
  }
  clock_of_phases_.enter(shuffling, clock_.ticks());
}

// Of two tiles that are both here.
void Transpose::add_local(std::uint64_t i, std::uint64_t j) {
  const auto* x = x_ + layout_.place_in_x(i, j);
  const auto* t = x_ + layout_.place_in_x(j, i);
  if (!p_.keep()) {
    add(i, j, t);
    if (i != j) add(j, i, x);
    return;
  }
  clock_of_phases_.enter(adding, clock_.ticks());
  kernels_->add_both(layout_.tile(i, j), x, t, y_ + layout_.place_in_y(i, j),
                     y_ + layout_.place_in_y(j, i));
  clock_of_phases_.enter(shuffling, clock_.ticks());
}

void Transpose::add_arrived(const Arrival& arrival) {
  const auto* t = arrival.elements;
  const bool square = layout_.extent(arrival.i) == layout_.extent(arrival.j);
  if (to_inject_ && square) {
    to_inject_ = false;
    if (p_.injected == Injected::drop) return;
    if (p_.injected == Injected::corrupt) corrupt(p_.kind(), arrival.elements);
    if (p_.injected == Injected::misroute) t = x_ + layout_.place_in_x(arrival.j, arrival.j);
  }
  add(arrival.j, arrival.i, t);
}

Iteration Transpose::run(std::uint32_t number, TransferLog* log) {
  auto& clock = clock_of_phases_;
  exchange_.reset();
  // What the last iteration left must not pass for this one's.
  made_.assign(made_.size(), {});
  if (p_.keep()) buffers_[2].zero();
  stamp(number);
  // The last rank has rows, however few there are.
  to_inject_ = p_.injected != Injected::nothing && comm_.rank() == comm_.size() - 1;
  const auto first = layout_.first_chunk(rank_);
  const auto end = layout_.first_chunk(rank_ + 1);
  comm_.log_into(log, number);
  clock.start(comm_, clock_, log, number);
  clock.enter(shuffling, clock_.ticks());
  begin_exchange(number);
  while (p_.bulk_synchronous && !exchange_->all_arrived()) step();
  auto i = first;  // of the next tile whose transposed one is here too
  auto j = first;
  while (i < end || !exchange_->all_taken()) {
    if (const auto arrival = exchange_->next()) {
      add_arrived(*arrival);
      exchange_->release(*arrival);
    } else if (i < end) {
      add_local(i, j);
      if (++j == end) j = ++i;
    } else {
      step();
    }
  }
  while (!exchange_->sent()) step();
  clock.stop(clock_.ticks());
  comm_.log_into(nullptr, 0);
  comm_.barrier();

  auto iteration = iteration_of(clock, phases.size(), clock_);
  iteration.sent_bytes = layout_.bytes_exchanged(rank_);
  iteration.received_bytes = iteration.sent_bytes;
  return iteration;
}

std::string Transpose::verify() {
  std::string error;
  for (auto i = layout_.first_chunk(rank_); i < layout_.first_chunk(rank_ + 1); ++i) {
    for (std::uint64_t j = 0; j < layout_.chunks() && error.empty(); ++j) {
      auto made = made_[index_of(i, j)];
      if (p_.keep()) made = kernels_->checksum(layout_.tile(i, j), y_ + layout_.place_in_y(i, j));
      // Both tiles that were added had a stamp.
      const auto tile = layout_.tile(i, j);
      if (made != Checksum{}) made.take_away(tile.first_row, tile.first_column, 2 * stamp_);
      const auto wrong = what_is_wrong(layout_, i, j, expected_[index_of(i, j)], made);
      if (!wrong.empty()) error = fmt::format("rank {}: {}", rank_, wrong);
    }
  }
  return error;
}

}  // namespace ucxbench::transpose
