#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "harness/core/fd.hpp"
#include "harness/launch/signals.hpp"

namespace ucxbench {

// A duet: two runs of this program, perhaps of two builds, measure at the same time on the same
// CPUs, of which one goes on while the other sleeps (Bulej et al., Duet Benchmarking, ICPE 2020).
// They share no code, only the memory that is described here.

/// What both must know; another number whenever the meaning of anything below changes.
inline constexpr std::uint32_t duet_version = 1;
inline constexpr int most_duet_ranks = 64;
/// Where a rank finds what DuetView::open takes. Its own supervisor says it: a plan may be another
/// host's.
inline constexpr const char* duet_variable = "UCXBENCH_INTERNAL_DUET";
/// What a rank says that failed only because the other side did.
inline constexpr const char* other_side_ended = "the other side of the duet has ended";

/// One word that says whose turn it is, and what is said with it: of the two supervisors, or of the
/// ranks of one number. On cache lines of its own.
struct alignas(128) DuetSeat {
  std::atomic<std::uint32_t> turn;
  std::atomic<std::uint32_t> arrived[2];  ///< by side: how often it met others of its side
  /// By side, in two places by turns: who says the next thing leaves the last one to be read.
  std::atomic<std::uint64_t> said[2][2];
};

/// The first three are where they are in every version. All that is atomic is zero at first.
struct DuetMemory {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t only;                   ///< not 0: a case that cannot be a duet is an error
  std::uint64_t id;                     ///< drawn; what else is drawn follows from it
  std::uint32_t first;                  ///< the side with the supervisors' first turn
  std::atomic<std::uint32_t> any[2];    ///< by side, of a dry run: some case can be a duet
  std::atomic<std::uint32_t> left[2];   ///< by side: the program has ended
  std::atomic<std::uint32_t> ended[2];  ///< by side: duets that are over, well or not
  DuetSeat supervisors;
  DuetSeat ranks[most_duet_ranks];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// Whose a rank or program is; which of the two begins is drawn.
enum class DuetSide : std::uint8_t { base, now };

/// The memory of one pair of programs after the other, gone with the process that made it.
class DuetFile {
 public:
  /// Throws Failure(Exit::cannot_run).
  explicit DuetFile(bool only);
  ~DuetFile();
  DuetFile(const DuetFile&) = delete;
  DuetFile& operator=(const DuetFile&) = delete;

  /// For the next two programs, with another id. `first` has the supervisors' first turn.
  void begin(DuetSide first);
  /// That a program is gone, however it ended: nobody waits for it any more.
  void leave(DuetSide side);

  /// Whether some case of that side can be a duet, as its dry run said.
  bool any(DuetSide side) const;

  /// For --duet of that side's program.
  std::string option(DuetSide side) const;

 private:
  Fd file_;
  DuetMemory* memory_ = nullptr;
};

/// This process's view of the memory that a --duet names.
class DuetView {
 public:
  /// Throws Failure(Exit::usage) for what is no such memory, or of another version.
  static std::shared_ptr<DuetView> open(const std::string& option);
  ~DuetView();
  DuetView(const DuetView&) = delete;
  DuetView& operator=(const DuetView&) = delete;

  DuetSide side() const { return side_; }
  DuetSide other() const { return side_ == DuetSide::base ? DuetSide::now : DuetSide::base; }
  DuetMemory& memory() { return *memory_; }

 private:
  DuetView(DuetMemory* memory, DuetSide side) : memory_(memory), side_(side) {}

  DuetMemory* memory_;
  DuetSide side_;
};

/// A supervisor's part: what it does between launches, and launches that are no duets, are done
/// while it has the turn. Waits end when the other is gone or when the user ends this run.
class DuetSupervisor {
 public:
  /// What the ranks of a launch that is a duet must know.
  struct Terms {
    std::string option;
    std::uint32_t number;  ///< among the duets of this pair of programs
  };

  DuetSupervisor(std::string option, Signals& signals);
  /// Nobody waits for this one any more.
  ~DuetSupervisor();
  DuetSupervisor(const DuetSupervisor&) = delete;
  DuetSupervisor& operator=(const DuetSupervisor&) = delete;

  void begin() { take(); }
  /// Both say what they would launch next, 0 what cannot be a duet. Terms if it was the same: then
  /// both go on at once, and end_launch follows.
  std::optional<Terms> begin_launch(std::uint64_t offer);
  void end_launch();
  /// Once the other has done all of its work, too.
  void end();

  /// Whether the other program is gone.
  bool alone();
  bool only() { return view_->memory().only != 0; }
  /// Of a dry run: whether some case can be a duet.
  void say_any(bool any);

 private:
  void take();
  void pass();
  void meet();

  std::string option_;
  Signals& signals_;
  std::shared_ptr<DuetView> view_;
  std::uint32_t turn_;  ///< this side's next: base's are even
  std::uint32_t number_ = 0;
  std::uint32_t offers_ = 0;
};

/// A rank's part. All that it does is done while it has the turn of its number; at any time it is
/// either in a phase, of which each side has one in turn, or in a block. Both sides begin and end
/// phases, and go through the same blocks, in the same order. Whatever waits throws
/// Failure(Exit::cannot_run) when the other side's ranks are gone, and Failure(Exit::lost) after
/// `limit`.
class DuetRank {
 public:
  DuetRank(const std::string& option, std::uint32_t number, int rank,
           std::chrono::milliseconds limit);

  void begin_phase();
  void end_phase();
  /// Ends a phase and begins the next. Before a wait for ranks of this side that are further in
  /// what both sides do: they may wait for this rank of the other.
  void give_way() {
    end_phase();
    begin_phase();
  }

  /// Ends a phase and begins the next: what each side said in it (base, new).
  std::array<std::uint64_t, 2> exchange(std::uint64_t value);
  std::array<double, 2> exchange(double value);

  /// Of `count` quads, drawn for `what` and the same on both sides, whose the outer blocks are: A
  /// for base, new, new, base, B for the other way round.
  std::string draw(std::size_t count, std::string_view what) const;

  /// Between two phases: this side's blocks of the quads, each in its turn. What a block sent has
  /// to be with the peer when it ends.
  void blocks(std::string_view quads, const std::function<void()>& block);

  /// With one other rank of this side, which calls it with the other value of `starts`, in a block
  /// or a phase. Returns where `starts` is true once the other is awake and goes on, and in the
  /// other as soon as the starter has come: so that nothing is sent to who is not there yet. Who
  /// waits calls `meanwhile`, where there is one, from time to time.
  void meet(int peer, bool starts, const std::function<void()>& meanwhile = {});

  DuetSide side() const { return view_->side(); }
  /// Which side has the first phase.
  DuetSide first() const;
  /// Of this launch, 16 hexadecimal digits: what is drawn follows from it.
  std::string id() const;

 private:
  DuetSeat& seat_of(int rank) { return view_->memory().ranks[static_cast<std::size_t>(rank)]; }
  DuetSeat& seat() { return seat_of(rank_); }
  void wait_for(std::uint32_t turn);
  void pass(std::uint32_t turn);
  bool other_is_gone() const;

  std::shared_ptr<DuetView> view_;
  std::uint32_t number_;
  std::uint64_t id_;
  int rank_;
  std::chrono::milliseconds limit_;
  std::uint32_t turn_;  ///< of the phase, both sides', or the block to come
  std::uint32_t meetings_;
  std::uint32_t exchanges_ = 0;
};

}  // namespace ucxbench
