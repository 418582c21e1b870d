#include "workloads/merge/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "harness/core/announced.hpp"

namespace ucxbench::merge {
namespace {

std::span<std::byte> bytes_of(std::uint64_t* words, std::uint64_t count) {
  return {reinterpret_cast<std::byte*>(words), count * sizeof(std::uint64_t)};
}

}  // namespace

Exchange::Exchange(Communicator& comm, const Setup& setup)
    : comm_(comm),
      setup_(setup),
      incoming_(setup.spread.blocks()),
      counts_(setup.spread.ranks),
      count_receives_(setup.spread.ranks),
      receives_(setup.spread.batches) {}

std::uint64_t Exchange::label(Kind kind, std::uint32_t batch, std::uint32_t frame) const {
  return std::uint64_t{setup_.iteration % 2} << 24U |  // there is a barrier between iterations
         kind << 22U | static_cast<std::uint64_t>(setup_.side) << 21U | std::uint64_t{batch} << 8U |
         frame;
}

void Exchange::begin(std::uint64_t* words, const std::vector<std::uint64_t>& bucket_rows,
                     std::uint64_t* room, const std::vector<std::uint64_t>& room_rows) {
  words_ = words;
  room_ = room;
  room_rows_ = room_rows;
  bucket_rows_ = bucket_rows;
  const auto& spread = setup_.spread;
  outgoing_ = blocks_of(spread, bucket_rows_);
  if (setup_.injected == Injected::misroute && rank() == 0) {
    const auto own = outgoing_[0].first_word(setup_.columns);
    const auto theirs = outgoing_[spread.batches].first_word(setup_.columns);
    copy_bytes(setup_.memory, words_ + theirs, words_ + own, sizeof *words_);
  }
  for (std::uint32_t from = 0; from < spread.ranks; ++from) {
    auto& theirs = counts_[from];
    theirs.resize(spread.per_rank());
    auto* mine = bucket_rows_.data() + std::size_t{from} * spread.per_rank();
    if (from == rank()) {
      theirs.assign(mine, mine + spread.per_rank());
      continue;
    }
    comm_.receive(static_cast<int>(from), label(counts, 0, 0),
                  bytes_of(theirs.data(), theirs.size()), count_receives_[from]);
    uncounted_.push_back(from);
    comm_.send(static_cast<int>(from), label(counts, 0, 0), bytes_of(mine, spread.per_rank()),
               sends_);
  }
  headers_.resize(std::size_t{setup_.columns} * spread.blocks());
  arrived_headers_.resize(headers_.size());
  for (std::uint32_t batch = 0; batch < spread.batches; ++batch) {
    for (std::uint32_t k = 1; k < spread.ranks; ++k) {
      send_block((rank() + k) % spread.ranks, batch);
    }
  }
  poll();
}

void Exchange::send_block(std::uint32_t to, std::uint32_t batch) {
  const auto index = std::size_t{to} * setup_.spread.batches + batch;
  const auto& block = outgoing_[index];
  auto* words = words_ + block.first_word(setup_.columns);
  if (setup_.framing == Framing::contiguous) {
    const auto bytes = bytes_of(words, block.words(setup_.columns));
    bytes_sent_ += bytes.size();
    comm_.send(static_cast<int>(to), label(rows, batch, 0), bytes, sends_);
    return;
  }
  auto* lengths = headers_.data() + index * setup_.columns;
  std::fill(lengths, lengths + setup_.columns, block.rows * sizeof(std::uint64_t));
  comm_.send(static_cast<int>(to), label(header, batch, 0), bytes_of(lengths, setup_.columns),
             sends_);
  for (std::uint32_t column = 0; column < setup_.columns; ++column) {
    const auto bytes = bytes_of(words + column * block.stride(), block.rows);
    bytes_sent_ += bytes.size();
    comm_.send(static_cast<int>(to), label(rows, batch, column), bytes, sends_);
  }
}

void Exchange::poll() {
  std::erase_if(uncounted_, [this](std::uint32_t from) {
    if (!count_receives_[from].done()) return false;
    post_receives(from);
    return true;
  });
}

void Exchange::post_receives(std::uint32_t from) {
  const auto& spread = setup_.spread;
  const auto first_row = room_rows_[from];
  const auto room = room_rows_[from + 1] - first_row;
  const auto peer = static_cast<int>(from);
  const auto check_rows = [&](std::uint64_t count) {
    check_at_most({.count = count, .unit = "rows", .rank = peer}, room);
  };
  for (const auto count : counts_[from]) check_rows(count);  // before their sum can overflow
  const auto blocks =
      blocks_of({.ranks = 1, .batches = spread.batches, .parts = spread.parts}, counts_[from]);
  check_rows(room_of(blocks));
  for (std::uint32_t batch = 0; batch < spread.batches; ++batch) {
    const auto index = std::size_t{from} * spread.batches + batch;
    auto& block = incoming_[index];
    block = {first_row + blocks[batch].first_row, blocks[batch].rows};
    auto* words = room_ + block.first_word(setup_.columns);
    if (setup_.framing == Framing::contiguous) {
      const auto bytes = bytes_of(words, block.words(setup_.columns));
      bytes_received_ += bytes.size();
      comm_.receive(peer, label(rows, batch, 0), bytes, receives_[batch]);
      continue;
    }
    comm_.receive(peer, label(header, batch, 0),
                  bytes_of(arrived_headers_.data() + index * setup_.columns, setup_.columns),
                  receives_[batch]);
    for (std::uint32_t column = 0; column < setup_.columns; ++column) {
      const auto bytes = bytes_of(words + column * block.stride(), block.rows);
      bytes_received_ += bytes.size();
      comm_.receive(peer, label(rows, batch, column), bytes, receives_[batch]);
    }
  }
}

void Exchange::corrupt_key() {
  if (rank() != 1 || setup_.side != Side::build) return;
  auto& block = incoming_[0];
  if (setup_.injected == Injected::corrupt && block.rows != 0) {
    auto* key = room_ + block.first_word(setup_.columns);
    std::uint64_t corrupted = 0;
    copy_bytes(setup_.memory, &corrupted, key, sizeof corrupted);
    corrupted ^= 1U;
    copy_bytes(setup_.memory, key, &corrupted, sizeof corrupted);
  }
  if (setup_.injected == Injected::drop) {
    std::fill_n(counts_[0].begin(), setup_.spread.parts, 0);
    block.rows = 0;
  }
}

Rows Exchange::received(std::uint32_t from, std::uint32_t batch) const {
  const auto index = std::size_t{from} * setup_.spread.batches + batch;
  if (from == rank()) return outgoing(from, batch);
  const auto& block = incoming_[index];
  return {room_ + block.first_word(setup_.columns), block.rows, block.stride()};
}

bool Exchange::has_right_header(std::uint32_t from, std::uint32_t batch) const {
  if (from == rank() || setup_.framing == Framing::contiguous) return true;
  const auto index = std::size_t{from} * setup_.spread.batches + batch;
  const auto lengths = std::span(arrived_headers_).subspan(index * setup_.columns, setup_.columns);
  return std::ranges::all_of(lengths, [&](std::uint64_t bytes) {
    return bytes == incoming_[index].rows * sizeof(std::uint64_t);
  });
}

Rows Exchange::outgoing(std::uint32_t to, std::uint32_t batch) const {
  const auto& block = outgoing_[std::size_t{to} * setup_.spread.batches + batch];
  return {words_ + block.first_word(setup_.columns), block.rows, block.stride()};
}

std::vector<Rows> Exchange::part(std::uint32_t batch, std::uint32_t part) const {
  std::vector<Rows> segments;
  for (std::uint32_t from = 0; from < setup_.spread.ranks; ++from) {
    auto segment = received(from, batch);
    const auto* rows_of = counts_[from].data() + std::size_t{batch} * setup_.spread.parts;
    segment.words += std::accumulate(rows_of, rows_of + part, std::uint64_t{0});
    segment.rows = rows_of[part];
    if (segment.rows != 0) segments.push_back(segment);
  }
  return segments;
}

}  // namespace ucxbench::merge
