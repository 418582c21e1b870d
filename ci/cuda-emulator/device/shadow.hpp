#pragma once

#include <cstddef>
#include <cstdint>

namespace emulator {

enum class Use { READ, WRITE, ATOMIC };

/// When the thread that runs now is at work. An interval is what lies between two barriers of one
/// block; they are numbered through all blocks and launches, since blocks run one after another.
struct Now {
  std::uint32_t launch_begin = 1;  ///< its first interval
  std::uint32_t block_begin = 1;   ///< the block's
  std::uint32_t interval = 1;
  unsigned thread = 0;
  /// By lane of its warp: in which stretch between two __syncwarp of this interval (1, 2, …) that
  /// lane was when this thread last met it there, directly or through others; 0: not yet. What the
  /// lane did up to then comes before what this thread does now. Its own entry is where it is.
  const std::uint16_t* lanes = nullptr;
};

/// Who used some bytes last, and whether others did before without a barrier in between.
struct Access {
  std::uint64_t interval : 32 = 0;  // 0: nobody
  std::uint64_t thread : 10 = 0;
  std::uint64_t clock : 16 = 0;  // its own entry of Now::lanes
  std::uint64_t atomic : 1 = 0;
  std::uint64_t other_block : 1 = 0;
  std::uint64_t other_warp : 1 = 0;
  std::uint64_t other_lane : 1 = 0;
  std::uint64_t split : 1 = 0;  // the word's bytes are remembered one by one
  std::uint64_t : 1;

  bool operator==(const Access&) const = default;
};

struct Cell {
  Access write, read;
};

/// What two unordered uses of the same bytes are, and whose the earlier one is.
struct Race {
  Use earlier = Use::READ;
  bool other_block = false;
  unsigned thread = 0;  // of the same block; unknown (the last one is given) where several used it
};

/// What is remembered of memory [begin, end): for every word of 8 bytes, and for every byte of
/// those words that were used in parts.
class Shadow {
 public:
  Shadow(std::uintptr_t begin, std::uintptr_t end);
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;
  ~Shadow();

  /// Notes a use of bytes inside. Whether it is ordered with all uses before; if not, by whom.
  bool ordered(std::uintptr_t address, std::size_t bytes, Use use, const Now& now, Race& race);
  /// Whether all of these bytes were written since an interval began.
  bool written_since(std::uint32_t interval, std::uintptr_t address, std::size_t bytes) const;
  /// Notes that threads of several warps read it, without a look at who wrote it.
  void read_by_all(std::uintptr_t address, std::size_t bytes, const Now& now);

 private:
  template <typename Work>
  bool for_cells(std::uintptr_t address, std::size_t bytes, Work work) const;

  std::uintptr_t begin_;
  std::size_t words_;
  Cell* of_words_;
  Cell* of_bytes_;
};

}  // namespace emulator
