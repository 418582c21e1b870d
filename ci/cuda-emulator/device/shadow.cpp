#include "ci/cuda-emulator/device/shadow.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace emulator {
namespace {

constexpr unsigned WARP = 32;
constexpr std::size_t WORD = 8;

bool same_warp(unsigned a, unsigned b) { return a / WARP == b / WARP; }

unsigned own_clock(const Now& now) { return now.lanes[now.thread % WARP]; }

/// Whether a use by a thread of this interval comes before what the present thread does.
bool before(const Access& old, const Now& now) {
  if (old.thread == now.thread) return true;
  return same_warp(old.thread, now.thread) && old.clock <= now.lanes[old.thread % WARP];
}

bool races(const Access& old, const Now& now) {
  if (old.interval < now.launch_begin) return false;
  if (old.interval < now.block_begin || old.other_block != 0) return true;
  if (old.interval != now.interval) return false;
  if (!before(old, now) || old.other_warp != 0) return true;
  // Another lane was there before; a __syncwarp since then is taken to have been with that lane.
  return old.other_lane != 0 && old.thread == now.thread && old.clock == own_clock(now);
}

Access access_of(const Now& now, bool atomic) {
  return {.interval = now.interval,
          .thread = now.thread,
          .clock = own_clock(now),
          .atomic = std::uint64_t{atomic}};
}

/// The present thread's use beside those which `old` stands for.
Access joined(const Access& old, const Now& now, bool atomic) {
  auto made = access_of(now, atomic);
  if (old.interval < now.launch_begin) return made;
  made.other_block = old.interval < now.block_begin || old.other_block != 0 ? 1 : 0;
  if (old.interval != now.interval) return made;
  if (!same_warp(old.thread, now.thread)) {
    made.other_warp = 1;
    return made;
  }
  made.other_warp = old.other_warp;
  if (old.thread != now.thread) {
    made.other_lane = before(old, now) ? 0 : 1;
  } else if (old.clock == own_clock(now)) {
    made.other_lane = old.other_lane;
    // It has also written as anyone does, and nobody met it since.
    if (old.atomic == 0) made.atomic = 0;
  }
  return made;
}

bool conflict(const Access& old, Use earlier, const Now& now, Race& race) {
  if (!races(old, now)) return false;
  race = {.earlier = earlier,
          .other_block = old.interval < now.block_begin || old.other_block != 0,
          .thread = static_cast<unsigned>(old.thread)};
  return true;
}

bool use_cell(Cell& cell, Use use, const Now& now, Race& race) {
  // Most often nobody of this launch was there before.
  if (cell.write.interval < now.launch_begin && cell.read.interval < now.launch_begin) {
    (use == Use::READ ? cell.read : cell.write) = access_of(now, use == Use::ATOMIC);
    return true;
  }
  const auto earlier_write = cell.write.atomic != 0 ? Use::ATOMIC : Use::WRITE;
  if (use == Use::READ) {
    if (conflict(cell.write, earlier_write, now, race)) return false;
    cell.read = joined(cell.read, now, false);
    return true;
  }
  if (conflict(cell.read, Use::READ, now, race)) return false;
  if (use == Use::ATOMIC) {
    if (cell.write.atomic == 0 && conflict(cell.write, earlier_write, now, race)) return false;
    cell.write = joined(cell.write, now, true);
    return true;
  }
  if (conflict(cell.write, earlier_write, now, race)) return false;
  cell.write = access_of(now, false);
  return true;
}

Cell* cells(std::size_t count) {
  // Past the C library, since UCX follows its mmap. Costs nothing until it is used.
  const long memory = syscall(SYS_mmap, nullptr, count * sizeof(Cell), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);
  if (memory == -1) std::abort();
  return reinterpret_cast<Cell*>(memory);
}

}  // namespace

Shadow::Shadow(std::uintptr_t begin, std::uintptr_t end)
    : begin_(begin / WORD * WORD),
      words_((end - begin_ + WORD - 1) / WORD),
      of_words_(cells(words_)),
      of_bytes_(cells(words_ * WORD)) {}

Shadow::~Shadow() {
  syscall(SYS_munmap, of_words_, words_ * sizeof(Cell));
  syscall(SYS_munmap, of_bytes_, words_ * WORD * sizeof(Cell));
}

template <typename Work>
bool Shadow::for_cells(std::uintptr_t address, std::size_t bytes, Work work) const {
  for (auto offset = address - begin_; bytes > 0;) {
    const auto word = offset / WORD;
    const auto taken = std::min(bytes, WORD - offset % WORD);
    auto& cell = of_words_[word];
    if (taken == WORD && cell.write.split == 0) {
      if (!work(cell)) return false;
      offset += taken;
      bytes -= taken;
      continue;
    }
    auto* parts = of_bytes_ + word * WORD;
    if (cell.write.split == 0) {
      std::fill(parts, parts + WORD, cell);
      cell.write.split = 1;
    }
    for (auto part = offset % WORD; part < offset % WORD + taken; ++part) {
      if (!work(parts[part])) return false;
    }
    offset += taken;
    bytes -= taken;
  }
  return true;
}

bool Shadow::ordered(std::uintptr_t address, std::size_t bytes, Use use, const Now& now,
                     Race& race) {
  return for_cells(address, bytes, [&](Cell& cell) { return use_cell(cell, use, now, race); });
}

bool Shadow::written_since(std::uint32_t interval, std::uintptr_t address,
                           std::size_t bytes) const {
  return for_cells(address, bytes, [&](Cell& cell) { return cell.write.interval >= interval; });
}

void Shadow::read_by_all(std::uintptr_t address, std::size_t bytes, const Now& now) {
  for_cells(address, bytes, [&](Cell& cell) {
    cell.read = access_of(now, false);
    cell.read.other_warp = 1;
    return true;
  });
}

}  // namespace emulator
