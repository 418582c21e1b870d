#include "harness/launch/duet.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <new>
#include <random>

#include "harness/core/failure.hpp"
#include "harness/core/hash.hpp"

namespace ucxbench {
namespace {

using Word = std::atomic<std::uint32_t>;
using std::chrono::milliseconds;

constexpr std::array duet_magic = {'u', 'c', 'x', 'd', 'u', 'e', 't', '\0'};

// Nobody wakes who waits for a side that was killed. Longer than any block: a sleeper is woken
// beside the other's block only where that is far from usual.
constexpr milliseconds longest_sleep{100};

// Turns that a launch may have: numbers of a later one are above all of an earlier one.
constexpr int turn_bits = 20;

constexpr std::size_t index_of(DuetSide side) { return static_cast<std::size_t>(side); }

/// Asleep until `word` is no longer `seen`, wake() is called or some time has passed.
void sleep_while(Word& word, std::uint32_t seen) {
  const timespec limit{0, std::chrono::nanoseconds(longest_sleep).count()};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &limit, nullptr, 0);
}

void wake(Word& word) { ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

void advance(Word& word, std::uint32_t value) {
  word.store(value);
  wake(word);
}

/// Returns when `holds`; throws what `check` throws, which is called when some time has passed.
template <typename Holds, typename Check>
void sleep_until(Word& word, Holds holds, Check check) {
  for (;;) {
    const auto seen = word.load();
    if (holds()) return;
    check();
    sleep_while(word, seen);
  }
}

DuetMemory* mapped(int fd) {
  void* at = ::mmap(nullptr, sizeof(DuetMemory), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return at == MAP_FAILED ? nullptr : static_cast<DuetMemory*>(at);
}

}  // namespace

DuetFile::DuetFile(bool only) : file_(::memfd_create("duet", MFD_CLOEXEC)) {
  if (file_ && ::ftruncate(file_.get(), sizeof(DuetMemory)) == 0) memory_ = mapped(file_.get());
  if (memory_ == nullptr) {
    throw Failure(Exit::cannot_run,
                  fmt::format("no memory for duets: {}; use --method turns", std::strerror(errno)));
  }
  ::new (memory_) DuetMemory{};
  memory_->magic = duet_magic;
  memory_->version = duet_version;
  memory_->only = only ? 1 : 0;
}

DuetFile::~DuetFile() { ::munmap(memory_, sizeof(DuetMemory)); }

void DuetFile::begin(DuetSide first) {
  const auto only = memory_->only;
  ::new (memory_) DuetMemory{};
  memory_->magic = duet_magic;
  memory_->version = duet_version;
  memory_->only = only;
  std::random_device draw;
  memory_->id = std::uint64_t{draw()} << 32U | draw();
  memory_->first = static_cast<std::uint32_t>(first);
  memory_->supervisors.turn = memory_->first;
}

void DuetFile::leave(DuetSide side) {
  memory_->left[index_of(side)] = 1;
  wake(memory_->supervisors.turn);
  for (auto& seat : memory_->ranks) wake(seat.turn);
}

bool DuetFile::any(DuetSide side) const { return memory_->any[index_of(side)] != 0; }

std::string DuetFile::option(DuetSide side) const {
  return fmt::format("{}:/proc/{}/fd/{}", side == DuetSide::base ? "base" : "new", ::getpid(),
                     file_.get());
}

std::shared_ptr<DuetView> DuetView::open(const std::string& option) {
  const auto colon = option.find(':');
  const auto name = option.substr(0, colon);
  if (colon == std::string::npos || (name != "base" && name != "new")) {
    throw Failure(Exit::usage, fmt::format("--duet '{}': expected base:FILE or new:FILE, as ab "
                                           "gives it",
                                           option));
  }
  const auto path = option.substr(colon + 1);
  const Fd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  std::array<char, duet_magic.size()> begins{};
  std::uint32_t version = 0;
  const bool ours = ::pread(file.get(), begins.data(), begins.size(), 0) == begins.size() &&
                    ::pread(file.get(), &version, sizeof version, begins.size()) ==
                        static_cast<ssize_t>(sizeof version) &&
                    begins == duet_magic;
  if (!ours) {
    throw Failure(Exit::usage, fmt::format("--duet: '{}' is no memory of an ab that runs", path));
  }
  struct stat found{};
  if (version != duet_version || ::fstat(file.get(), &found) != 0 ||
      found.st_size != static_cast<off_t>(sizeof(DuetMemory))) {
    throw Failure(Exit::usage, fmt::format("--duet: duets of version {}; this ucx-bench has {}",
                                           version, duet_version));
  }
  auto* memory = mapped(file.get());
  if (memory == nullptr) {
    throw Failure(Exit::cannot_run, fmt::format("--duet: {}", std::strerror(errno)));
  }
  return std::shared_ptr<DuetView>(
      new DuetView(memory, name == "base" ? DuetSide::base : DuetSide::now));
}

DuetView::~DuetView() { ::munmap(memory_, sizeof(DuetMemory)); }

DuetSupervisor::DuetSupervisor(std::string option, Signals& signals)
    : option_(std::move(option)), signals_(signals), view_(DuetView::open(option_)) {
  const bool base_first = view_->memory().first == static_cast<std::uint32_t>(DuetSide::base);
  turn_ = view_->side() == DuetSide::now ? 1 : base_first ? 0 : 2;
}

DuetSupervisor::~DuetSupervisor() {
  auto& memory = view_->memory();
  memory.left[index_of(view_->side())] = 1;
  wake(memory.supervisors.turn);
  for (auto& seat : memory.ranks) wake(seat.turn);
}

void DuetSupervisor::say_any(bool any) {
  view_->memory().any[index_of(view_->side())] = any ? 1 : 0;
}

void DuetSupervisor::take() {
  auto& memory = view_->memory();
  const auto free = [&] {
    signals_.collect();
    return memory.supervisors.turn.load() == turn_ || memory.left[index_of(view_->other())] != 0 ||
           signals_.stop();
  };
  sleep_until(memory.supervisors.turn, free, [] {});
}

void DuetSupervisor::pass() {
  advance(view_->memory().supervisors.turn, turn_ + 1);
  turn_ += 2;
}

void DuetSupervisor::meet() {
  pass();
  take();
}

std::optional<DuetSupervisor::Terms> DuetSupervisor::begin_launch(std::uint64_t offer) {
  auto& memory = view_->memory();
  const auto at = [&](DuetSide side) -> auto& {
    return memory.supervisors.said[index_of(side)][offers_ % 2];
  };
  at(view_->side()) = offer;
  meet();
  const bool same = offer != 0 && at(view_->other()) == offer;
  ++offers_;
  if (!same || alone()) return std::nullopt;
  if (view_->side() == DuetSide::base) {
    for (auto& seat : memory.ranks) advance(seat.turn, number_ << turn_bits);
  }
  pass();
  return Terms{option_, number_++};
}

void DuetSupervisor::end_launch() {
  auto& memory = view_->memory();
  memory.ended[index_of(view_->side())] = number_;
  for (auto& seat : memory.ranks) wake(seat.turn);
  take();
  meet();
}

void DuetSupervisor::end() { meet(); }

bool DuetSupervisor::alone() { return view_->memory().left[index_of(view_->other())] != 0; }

DuetRank::DuetRank(const std::string& option, std::uint32_t number, int rank, milliseconds limit)
    : view_(DuetView::open(option)),
      number_(number),
      id_(view_->memory().id + number * 0x9e3779b97f4a7c15U),
      rank_(rank),
      limit_(limit),
      turn_(number << turn_bits),
      meetings_(number << turn_bits) {
  // Who wakes another on its CPU goes on until it sleeps itself. Not to have it costs precision
  // only.
  const sched_param none{};
  ::sched_setscheduler(0, SCHED_BATCH, &none);
}

bool DuetRank::other_is_gone() const {
  auto& memory = view_->memory();
  const auto other = index_of(view_->other());
  return memory.left[other] != 0 || memory.ended[other] > number_;
}

void DuetRank::wait_for(std::uint32_t turn) {
  const auto begin = std::chrono::steady_clock::now();
  auto& word = seat().turn;
  const auto mine = [&] { return word.load() == turn; };
  sleep_until(word, mine, [&] {
    if (other_is_gone() && !mine()) {
      throw Failure(Exit::cannot_run, other_side_ended);
    }
    if (std::chrono::steady_clock::now() - begin > limit_) {
      throw Failure(Exit::lost, fmt::format("waited {:g} s for the other side of the duet",
                                            std::chrono::duration<double>(limit_).count()));
    }
  });
}

void DuetRank::pass(std::uint32_t turn) { advance(seat().turn, turn + 1); }

DuetSide DuetRank::first() const {
  return std::mt19937_64(id_)() % 2 == 0 ? DuetSide::base : DuetSide::now;
}

void DuetRank::begin_phase() { wait_for(turn_ + (side() == first() ? 0 : 1)); }

void DuetRank::end_phase() {
  pass(turn_ + (side() == first() ? 0 : 1));
  turn_ += 2;
}

std::array<std::uint64_t, 2> DuetRank::exchange(std::uint64_t value) {
  const auto at = exchanges_++ % 2;
  auto& said = seat().said;
  said[index_of(side())][at] = value;
  give_way();
  return {said[0][at].load(), said[1][at].load()};
}

std::array<double, 2> DuetRank::exchange(double value) {
  const auto both = exchange(std::bit_cast<std::uint64_t>(value));
  return {std::bit_cast<double>(both[0]), std::bit_cast<double>(both[1])};
}

std::string DuetRank::draw(std::size_t count, std::string_view what) const {
  std::mt19937_64 generator(id_ ^ fnv1a(what));
  std::string quads;
  while (quads.size() < count) quads += generator() % 2 == 0 ? 'A' : 'B';
  return quads;
}

void DuetRank::blocks(std::string_view quads, const std::function<void()>& block) {
  end_phase();
  for (const auto outer : quads) {
    for (const bool inner : {false, true, true, false}) {
      const auto whose = (outer == 'A') != inner ? DuetSide::base : DuetSide::now;
      if (whose == side()) {
        wait_for(turn_);
        block();
        pass(turn_);
      }
      ++turn_;
    }
  }
  begin_phase();
}

void DuetRank::meet(int peer, bool starts, const std::function<void()>& meanwhile) {
  ++meetings_;
  auto& own = seat().arrived[index_of(side())];
  auto& others = seat_of(peer).arrived[index_of(side())];
  if (starts) advance(own, meetings_);
  const auto begin = std::chrono::steady_clock::now();
  sleep_until(
      others, [&] { return others.load() >= meetings_; },
      [&] {
        if (meanwhile) meanwhile();
        if (std::chrono::steady_clock::now() - begin <= limit_) return;
        throw Failure(Exit::lost, fmt::format("waited for rank {} in a block of a duet", peer));
      });
  if (!starts) advance(own, meetings_);
}

std::string DuetRank::id() const { return fmt::format("{:016x}", id_); }

}  // namespace ucxbench
