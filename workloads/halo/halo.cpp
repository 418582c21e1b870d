#include "workloads/halo/halo.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <span>
#include <stdexcept>

#include "harness/core/pattern.hpp"
#include "harness/run/checked_window.hpp"

namespace ucxbench::halo {
namespace {

enum Phase : std::size_t { packing, computing, shuffling };

double* elements_in(Buffer& buffer) { return reinterpret_cast<double*>(buffer.data()); }

// Cosines, then sines, of this tile's rows or columns in a domain that has `length` of them.
void append_waves(std::vector<double>& table, std::uint64_t first, std::uint64_t edge,
                  std::uint64_t length) {
  const auto angle = [&](std::uint64_t i) {
    return 2 * std::numbers::pi * static_cast<double>(first + i) / static_cast<double>(length);
  };
  for (std::uint64_t i = 0; i < edge; ++i) table.push_back(std::cos(angle(i)));
  for (std::uint64_t i = 0; i < edge; ++i) table.push_back(std::sin(angle(i)));
}

}  // namespace

Halo::Halo(Communicator& comm, const Clock& clock, WorkloadMemory& memory, const Parameters& p)
    : comm_(comm),
      clock_(clock),
      p_(p),
      grid_(Grid::of(comm.size())),
      tile_{p.size},
      kernels_(on_gpu(p.kind()) ? make_cuda_kernels([this] { progress(); })
                                : make_cpu_kernels([this] { progress(); })) {
  const auto bytes = [](std::uint64_t elements) { return elements * sizeof(double); };
  buffers_ = memory.take({bytes(tile_.elements()), bytes(tile_.elements()),
                          bytes(Waves::count(p.size)), bytes(4 * p.size)});
  u_ = elements_in(buffers_[0]);
  v_ = elements_in(buffers_[1]);
  auto* columns = elements_in(buffers_[3]);
  sent_columns_ = {columns, columns + p.size};
  received_columns_ = {columns + 2 * p.size, columns + 3 * p.size};

  const auto rows = static_cast<std::uint64_t>(grid_.rows) * p.size;
  const auto across = static_cast<std::uint64_t>(grid_.columns) * p.size;
  const auto rank = comm.rank();
  append_waves(waves_, static_cast<std::uint64_t>(rank / grid_.columns) * p.size, p.size, rows);
  append_waves(waves_, static_cast<std::uint64_t>(rank % grid_.columns) * p.size, p.size, across);
  expected_ = {.waves = Waves::in(elements_in(buffers_[2]), p.size),
               .amplitude = std::pow(decay(rows, across), static_cast<double>(p.steps)),
               .tolerance = tolerance(p.steps)};
}

void Halo::progress() {
  const auto began = clock_.ticks();
  comm_.progress();
  // A GPU computes meanwhile.
  if (!on_gpu(p_.kind())) clock_of_phases_.progressed(clock_.ticks() - began);
}

// Where the neighbour's edge comes to: beside the tile's rows at once, its columns in between.
double* Halo::received(Side side) {
  if (side == north) return u_ + tile_.at(-1, 0);
  if (side == south) return u_ + tile_.at(static_cast<std::int64_t>(tile_.edge), 0);
  return received_columns_.at(side - west);
}

// What goes to the neighbour.
const double* Halo::sent(Side side) const {
  if (side == north) return u_ + tile_.at(0, 0);
  if (side == south) return u_ + tile_.at(static_cast<std::int64_t>(tile_.edge) - 1, 0);
  return sent_columns_.at(side - west);
}

// A label says on which way an edge travels, since two neighbours may be one rank. Neighbours are
// at most a step apart.
void Halo::begin_exchange(std::uint64_t step) {
  const auto rank = comm_.rank();
  const auto labels = step % 2 * sides.size();
  const auto edge_bytes = tile_.edge * sizeof(double);
  for (const auto side : sides) {
    const auto from = grid_.neighbour(rank, side);
    if (from == rank) {
      copy_bytes(p_.kind(), received(side), sent(opposite(side)), edge_bytes);
      continue;
    }
    comm_.receive(from, labels + opposite(side),
                  std::as_writable_bytes(std::span(received(side), tile_.edge)), receives_);
  }
  for (const auto side : sides) {
    const auto to = grid_.neighbour(rank, side);
    if (to == rank) continue;
    comm_.send(to, labels + side, std::as_bytes(std::span(sent(side), tile_.edge)), sends_);
  }
}

void Halo::wait() {
  comm_.wait(receives_);
  comm_.wait(sends_);
}

std::uint64_t Halo::sent_bytes() const {
  return p_.steps * static_cast<std::uint64_t>(grid_.edges_exchanged()) * tile_.edge *
         sizeof(double);
}

ExchangeAlone Halo::exchange_alone() {
  // Of no other exchange, step, rank or side. The only row of a tile goes to both of its
  // neighbours.
  const auto seed = [this](int sender, std::uint64_t step, Side side) {
    if (side == south && tile_.edge == 1) side = north;
    return payload_seed(sender, alone_number_,
                        step * sides.size() + static_cast<std::uint64_t>(side));
  };
  const auto fill = [this, seed](std::uint64_t step) {
    for (const auto side : sides) {
      auto there = part_at(sent(side));
      there.fill(there.size(), seed(comm_.rank(), step, side));
    }
  };
  const auto exchange = [this](std::uint32_t number, std::uint64_t step) {
    begin_exchange(number * p_.steps + step);
    wait();
  };
  const auto wrong = [this, seed](std::uint64_t step) -> std::string {
    for (const auto side : sides) {
      const auto from = grid_.neighbour(comm_.rank(), side);
      const auto here = part_at(received(side));
      const auto error =
          wrong_payload(here, here.size(), seed(from, step, opposite(side)), comm_, from);
      if (!error.empty()) return error;
    }
    return "";
  };
  // All steps that are timed send the same.
  const auto prepare = [this, fill](std::uint32_t number) {
    alone_number_ = number;
    fill(0);
  };
  const auto carry_out = [this, exchange](std::uint32_t number) {
    for (std::uint64_t step = 0; step < p_.steps; ++step) exchange(number, step);
    return sent_bytes();
  };
  const auto verify_each = [this, fill, exchange, wrong](std::uint32_t number) {
    std::string error;
    for (std::uint64_t step = 0; step < p_.steps; ++step) {
      fill(step);
      exchange(number, step);
      if (error.empty()) error = wrong(step);
    }
    return error;
  };
  return {prepare, carry_out, [wrong] { return wrong(0); }, verify_each};
}

// An edge's elements, of whichever buffer they are.
Buffer Halo::part_at(const double* elements) const {
  const auto bytes = tile_.edge * sizeof(double);
  const auto* begin = reinterpret_cast<const std::byte*>(elements);
  for (const auto& buffer : buffers_) {
    const bool inside = begin >= buffer.data() && begin < buffer.data() + buffer.size();
    if (inside) return buffer.part(static_cast<std::size_t>(begin - buffer.data()), bytes);
  }
  throw std::logic_error("an edge outside all buffers");
}

// The mistake of the last rank: what came from the west is wrong, was lost, or was taken for what
// came from the east. Ranks that are not alone have others there.
void Halo::inject() {
  auto [from_west, from_east] = received_columns_;
  const auto bytes = tile_.edge * sizeof(double);
  if (p_.injected == Injected::corrupt) corrupt(p_.kind(), from_west);
  if (p_.injected == Injected::misroute) {
    copy_bytes(p_.kind(), from_west, from_east, bytes);
  }
  if (p_.injected == Injected::drop) {
    const std::vector<double> nothing(tile_.edge, no_number);
    copy_bytes(p_.kind(), from_west, nothing.data(), bytes);
  }
}

// Those of the domain's rows, and with them all elements, have another height in each run: what any
// other run had is wrong in this one. Multiples of the golden ratio leave fractions that lie apart:
// of a thousand runs no two heights are closer than 1/5000.
void Halo::make_waves(std::uint32_t number) {
  const double turns = number * std::numbers::phi;
  const double height = 1 - (turns - std::floor(turns)) / 2;
  auto waves = waves_;
  for (std::uint64_t i = 0; i < 2 * tile_.edge; ++i) waves[i] *= height;
  copy_bytes(p_.kind(), buffers_[2].data(), waves.data(), waves.size() * sizeof(double));
}

Iteration Halo::run(std::uint32_t number, TransferLog* log) {
  auto& clock = clock_of_phases_;
  const auto inject_here = p_.injected != Injected::nothing && comm_.rank() == comm_.size() - 1;
  make_waves(number);
  kernels_->start(tile_, expected_.waves, u_);
  comm_.log_into(log, number);
  clock.start(comm_, clock_, log, number);
  for (std::uint64_t step = 0; step < p_.steps; ++step) {
    clock.enter(packing, clock_.ticks());
    kernels_->pack(tile_, u_, sent_columns_[0], sent_columns_[1]);
    clock.enter(shuffling, clock_.ticks());
    begin_exchange(number * p_.steps + step);
    if (!p_.bulk_synchronous) compute(Part::inside);
    comm_.wait(receives_);
    if (inject_here && step + 1 == p_.steps) inject();
    clock.enter(packing, clock_.ticks());
    kernels_->unpack(tile_, received_columns_[0], received_columns_[1], u_);
    compute(p_.bulk_synchronous ? Part::all : Part::edges);
    comm_.wait(sends_);
    std::swap(u_, v_);
  }
  clock.stop(clock_.ticks());
  comm_.log_into(nullptr, 0);
  comm_.barrier();

  auto iteration = iteration_of(clock, phases.size(), clock_);
  iteration.sent_bytes = sent_bytes();
  iteration.received_bytes = iteration.sent_bytes;
  return iteration;
}

void Halo::compute(Part part) {
  clock_of_phases_.enter(computing, clock_.ticks());
  kernels_->step(tile_, u_, v_, part);
  clock_of_phases_.enter(shuffling, clock_.ticks());
}

std::string Halo::verify() {
  const auto wrong = kernels_->wrong(tile_, u_, expected_);
  if (wrong == 0) return "";
  return fmt::format("rank {}: {} of {} elements are not what {} steps make of them", comm_.rank(),
                     wrong, tile_.edge * tile_.edge, p_.steps);
}

}  // namespace ucxbench::halo
