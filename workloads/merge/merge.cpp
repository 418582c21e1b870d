#include "workloads/merge/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/comm/all_to_all.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/pattern.hpp"

namespace ucxbench::merge {
namespace {

enum Phase : std::size_t { partitioning, shuffling, building, probing };

std::uint64_t* words_in(Buffer& buffer) { return reinterpret_cast<std::uint64_t*>(buffer.data()); }

}  // namespace

struct Merge::ExchangedTable {
  Side side;
  Buffer table, partitioned, room;
  std::vector<std::uint64_t> room_rows = {0};  ///< as Exchange::begin takes them
  std::vector<std::uint64_t> bucket_rows;
  std::optional<Exchange> exchange;

  ExchangedTable(Side which, Buffer table_memory, Buffer partitioned_memory)
      : side(which),
        table(std::move(table_memory)),
        partitioned(std::move(partitioned_memory)),
        room(MemoryKind::host, 1) {}
};

Merge::Merge(Communicator& comm, const Clock& clock, WorkloadMemory& memory, const Parameters& p)
    : comm_(comm),
      clock_(clock),
      p_(p),
      generator_({.kind = p.generator,
                  .rows_per_rank = p.rows,
                  .ranks = static_cast<std::uint64_t>(comm.size()),
                  .frac_match = p.frac_match,
                  .skew = p.skew}),
      kernels_(on_gpu(p.kind()) ? make_cuda_kernels([this] { progress(); })
                                : make_cpu_kernels([this] { progress(); })) {
  const auto ranks = static_cast<std::uint32_t>(comm.size());
  const auto own = static_cast<std::size_t>(comm.rank());
  spread_ = spread_for(ranks, p.batches, p.rows, kernels_->most_buckets(p.columns()),
                       kernels_->cached_rows(p.columns()));
  const auto words = p.rows * p.columns();
  // Each block's columns begin at cache lines.
  const auto padded = words + 7 * std::uint64_t{spread_.blocks()} * p.columns();
  auto tables = memory.take({words * sizeof(std::uint64_t), padded * sizeof(std::uint64_t),
                             words * sizeof(std::uint64_t), padded * sizeof(std::uint64_t)});
  std::vector<std::size_t> rooms;
  std::uint64_t largest_build = 0;
  for (const auto side : {Side::build, Side::probe}) {
    const auto at = static_cast<std::size_t>(side);
    sides_[at] = std::make_unique<ExchangedTable>(side, std::move(tables[2 * at]),
                                                  std::move(tables[2 * at + 1]));
    auto& made = *sides_[at];
    generate(made);
    // Once before anything is measured, to know how much memory what comes will need.
    const Rows table{words_in(made.table), p.rows, p.rows};
    const auto rows = kernels_->count(table, spread_);
    std::vector<std::vector<std::uint64_t>> outgoing;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const auto first = rows.begin() + std::ptrdiff_t{rank} * spread_.per_rank();
      outgoing.emplace_back(first, first + spread_.per_rank());
    }
    const auto incoming = all_to_all(comm_, outgoing);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const auto blocks =
          blocks_of({.ranks = 1, .batches = p.batches, .parts = spread_.parts}, incoming[rank]);
      made.room_rows.push_back(made.room_rows.back() + (rank == own ? 0 : room_of(blocks)));
    }
    rooms.push_back(made.room_rows.back() * p.columns() * sizeof(std::uint64_t));
    if (side != Side::build) continue;
    for (std::uint32_t part = 0; part < spread_.per_rank(); ++part) {
      std::uint64_t part_rows = 0;
      for (const auto& theirs : incoming) part_rows += theirs[part];
      largest_build = std::max(largest_build, part_rows);
    }
  }
  kernels_->reserve(p.columns(), largest_build,
                    [&](std::size_t bytes) { return std::move(memory.take({bytes}).front()); });

  const auto mine =
      expected(generator_, spread_, p.payload_columns, own * p.rows, (own + 1) * p.rows);
  std::vector<std::vector<std::uint64_t>> sums;
  for (const auto& rank : mine) sums.push_back({rank.rows, rank.sum, rank.parity});
  for (const auto& part : all_to_all(comm_, sums)) expected_.add({part[0], part[1], part[2]});

  joined_.capacity = expected_.rows;
  rooms.push_back(joined_.capacity * (2 * p.columns() - 1) * sizeof(std::uint64_t));
  auto more = memory.take(rooms);
  sides_[0]->room = std::move(more[0]);
  sides_[1]->room = std::move(more[1]);
  joined_memory_ = std::move(more[2]);
  joined_.words = words_in(*joined_memory_);
}

Merge::~Merge() = default;

std::vector<Buffer> Merge::received() const { return {sides_[0]->room, sides_[1]->room}; }

void Merge::generate(ExchangedTable& side) {
  const auto first = static_cast<std::uint64_t>(comm_.rank()) * p_.rows;
  kernels_->generate(generator_, side.side, first, p_.rows, p_.columns(), words_in(side.table));
}

void Merge::progress() {
  const auto began = clock_.ticks();
  comm_.progress();
  for (auto& side : sides_) {
    if (side && side->exchange) side->exchange->poll();
  }
  // A GPU computes meanwhile.
  if (!on_gpu(p_.kind())) clock_of_phases_.progressed(clock_.ticks() - began);
}

void Merge::partition(ExchangedTable& side) {
  const Rows table{words_in(side.table), p_.rows, p_.rows};
  side.bucket_rows = kernels_->count(table, spread_);
  const auto blocks = blocks_of(spread_, side.bucket_rows);
  std::vector<std::uint64_t> strides;
  for (const auto& block : blocks) strides.push_back(block.stride());
  kernels_->scatter(table, p_.columns(), spread_,
                    bucket_words(spread_, side.bucket_rows, p_.columns()), strides,
                    words_in(side.partitioned));
}

void Merge::begin(ExchangedTable& side, std::uint32_t number, Injected injected) {
  side.exchange.emplace(
      comm_, Exchange::Setup{.spread = spread_,
                             .columns = p_.columns(),
                             .side = side.side,
                             .memory = p_.kind(),
                             .framing = p_.frames ? Framing::frames : Framing::contiguous,
                             .iteration = number,
                             .injected = injected});
  side.exchange->begin(words_in(side.partitioned), side.bucket_rows, words_in(side.room),
                       side.room_rows);
}

void Merge::wait_for(std::uint32_t batch) {
  for (const auto& side : sides_) {
    while (!side->exchange->arrived(batch)) {
      comm_.wait_a_step();
      for (const auto& each : sides_) each->exchange->poll();
    }
  }
}

ExchangeAlone Merge::exchange_alone() {
  const auto prepare = [this](std::uint32_t number) {
    for (auto& side : sides_) {
      if (number == 0) partition(*side);
    }
  };
  const auto carry_out = [this](std::uint32_t number) {
    for (auto& side : sides_) begin(*side, number, Injected::nothing);
    for (std::uint32_t batch = 0; batch < spread_.batches; ++batch) wait_for(batch);
    std::uint64_t sent = 0;
    for (auto& side : sides_) {
      while (!side->exchange->sent()) comm_.wait_a_step();
      sent += side->exchange->bytes_sent();
    }
    return sent;
  };
  return {prepare, carry_out, [this] { return lost_on_the_way(); }};
}

Iteration Merge::run(std::uint32_t number, TransferLog* log) {
  auto& clock = clock_of_phases_;
  // What any other run sent is wrong in this one.
  generator_.salt(mix64(std::uint64_t{number} + 1));
  for (auto& side : sides_) {
    side->exchange.reset();
    generate(*side);
  }
  joined_.rows = 0;
  comm_.log_into(log, number);
  clock.start(comm_, clock_, log, number);
  partition(*sides_[0]);
  if (p_.bulk_synchronous) {
    partition(*sides_[1]);
    clock.enter(shuffling, clock_.ticks());
    comm_.barrier();
    for (auto& side : sides_) begin(*side, number, p_.injected);
    for (std::uint32_t batch = 0; batch < spread_.batches; ++batch) wait_for(batch);
  } else {
    begin(*sides_[0], number, p_.injected);
    partition(*sides_[1]);
    begin(*sides_[1], number, p_.injected);
  }
  for (std::uint32_t batch = 0; batch < spread_.batches; ++batch) {
    clock.enter(shuffling, clock_.ticks());
    wait_for(batch);
    if (batch == 0) sides_[0]->exchange->corrupt_key();
    for (std::uint32_t part = 0; part < spread_.parts; ++part) {
      clock.enter(building, clock_.ticks());
      kernels_->build(sides_[0]->exchange->part(batch, part));
      clock.enter(probing, clock_.ticks());
      kernels_->probe(sides_[1]->exchange->part(batch, part), joined_);
    }
  }
  clock.enter(shuffling, clock_.ticks());
  for (auto& side : sides_) {
    while (!side->exchange->sent()) comm_.wait_a_step();
  }
  clock.stop(clock_.ticks());
  comm_.log_into(nullptr, 0);
  comm_.barrier();

  auto iteration = iteration_of(clock, phases.size(), clock_);
  for (const auto& side : sides_) {
    iteration.sent_bytes += side->exchange->bytes_sent();
    iteration.received_bytes += side->exchange->bytes_received();
  }
  return iteration;
}

// What every rank sent against what arrived, per pair: rows, and of each column the sum of its
// words' hashes.
std::string Merge::lost_on_the_way() {
  const auto facts = [&](const Rows& rows) {
    std::vector<std::uint64_t> all = {rows.rows};
    for (std::uint32_t column = 0; column < p_.columns(); ++column) {
      all.push_back(kernels_->key_sum({rows.words + column * rows.stride, rows.rows, rows.stride}));
    }
    return all;
  };
  std::string error;
  for (const auto& side : sides_) {
    for (std::uint32_t batch = 0; batch < spread_.batches; ++batch) {
      std::vector<std::vector<std::uint64_t>> sent;
      for (std::uint32_t peer = 0; peer < spread_.ranks; ++peer) {
        sent.push_back(facts(side->exchange->outgoing(peer, batch)));
      }
      const auto theirs = all_to_all(comm_, sent);
      const auto* name = side->side == Side::build ? "build" : "probe";
      for (std::uint32_t peer = 0; peer < spread_.ranks && error.empty(); ++peer) {
        const auto arrived = facts(side->exchange->received(peer, batch));
        if (theirs[peer][0] != arrived[0]) {
          error = fmt::format("of {} {} rows that rank {} sent, {} arrived at rank {}",
                              theirs[peer][0], name, peer, arrived[0], comm_.rank());
        } else if (theirs[peer] != arrived) {
          error =
              fmt::format("{} {} changed on their way from rank {} to rank {}", name,
                          theirs[peer][1] != arrived[1] ? "keys" : "payloads", peer, comm_.rank());
        } else if (!side->exchange->has_right_header(peer, batch)) {
          error = fmt::format("the header of {} rows changed on its way from rank {} to rank {}",
                              name, peer, comm_.rank());
        }
      }
    }
  }
  return error;
}

std::uint64_t Merge::misplaced_rows(const ExchangedTable& side) {
  std::uint64_t count = 0;
  for (std::uint32_t peer = 0; peer < spread_.ranks; ++peer) {
    for (std::uint32_t batch = 0; batch < spread_.batches; ++batch) {
      count += kernels_->misplaced_rows(side.exchange->received(peer, batch), spread_,
                                        static_cast<std::uint32_t>(comm_.rank()));
    }
  }
  return count;
}

std::string Merge::verify() {
  if (auto lost = lost_on_the_way(); !lost.empty()) return lost;
  if (const auto rows = misplaced_rows(*sides_[0]) + misplaced_rows(*sides_[1]); rows != 0) {
    return fmt::format("rank {} got {} rows whose keys belong to another rank", comm_.rank(), rows);
  }
  const auto made = kernels_->checksum(joined_, p_.columns(), generator_.formula().salt);
  if (made.rows != expected_.rows) {
    return fmt::format("rank {} joined {} rows; {} would be right", comm_.rank(), made.rows,
                       expected_.rows);
  }
  if (made == expected_) return "";
  return fmt::format("rank {} joined {} rows, as many as it should, but their checksum is wrong",
                     comm_.rank(), made.rows);
}

}  // namespace ucxbench::merge
