#include "bench/pingpong/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "bench/pingpong/threads.hpp"
#include "harness/core/pattern.hpp"
#include "harness/core/units.hpp"
#include "harness/run/standing.hpp"

namespace ucxbench::pingpong {
namespace {

std::uint64_t rounds(Check check, std::uint64_t bytes) {
  const bool small = bytes <= (1U << 20U);
  return check == Check::full ? (small ? 32 : 4) : (small ? 4 : 1);
}

// Rounds of single messages are below.
constexpr std::uint64_t first_of_windows = 1000;

// Messages of several endpoints overtake each other, but a stream's are read in turn. So do active
// messages of one, where a setting spreads them over several lanes (UCX's default is one).
bool keeps_order(const Parameters& p) {
  if (p.api == Api::stream) return true;
  const bool spread = std::getenv("UCX_MAX_EAGER_RAILS") != nullptr ||
                      std::getenv("UCX_MAX_EAGER_LANES") != nullptr;
  return p.endpoints == 1 && !(p.api == Api::am && spread);
}

// Every thread's messages have contents of their own.
std::uint64_t seed_of(int rank, std::uint64_t bytes, std::uint64_t round, std::size_t thread) {
  return payload_seed(rank, bytes, round + thread * 1'000'000);
}

std::vector<Buffer> parts_of(Buffer& whole, int threads) {
  std::vector<Buffer> parts;
  const auto part = part_of_thread(whole.size(), threads);
  for (int thread = 0; thread < threads; ++thread) {
    parts.push_back(whole.part(static_cast<std::size_t>(thread) * part, part));
  }
  return parts;
}

}  // namespace

Verifier::Verifier(const Bench& bench, const Parameters& parameters,
                   const Rendezvous::Progress& progress)
    : bench_(bench),
      p_(parameters),
      progress_(progress),
      send_(parts_of(bench.send, parameters.threads)),
      receive_(parts_of(bench.receive, parameters.threads)) {}

void Verifier::fill() {
  fill_all(0);
  zero_all();
}

void Verifier::fill_all(std::uint64_t round) {
  const auto own = bench_.pair.rendezvous().rank();
  for (std::size_t thread = 0; thread < send_.size(); ++thread) {
    send_[thread].fill(p_.bytes, seed_of(own, p_.bytes, round, thread));
  }
  fill_header(round);
}

void Verifier::zero_all() {
  for (auto& receive : receive_) receive.poison(p_.bytes);
  if (bench_.form.header_bytes > 0) {
    std::memset(bench_.form.received_header, 0, bench_.form.header_bytes);
  }
}

// Another payload than that of a message as long.
std::uint64_t Verifier::header_seed(int rank, std::uint64_t round) const {
  return ~payload_seed(rank, bench_.form.header_bytes, round);
}

void Verifier::fill_header(std::uint64_t round) {
  const auto& form = bench_.form;
  if (form.header_bytes == 0) return;
  fill_pattern({form.header, form.header_bytes},
               header_seed(bench_.pair.rendezvous().rank(), round));
}

std::string Verifier::wrong_header(std::uint64_t round) const {
  const auto& form = bench_.form;
  if (form.header_bytes == 0) return "";
  const auto wrong = find_mismatch({form.received_header, form.header_bytes},
                                   header_seed(bench_.pair.peer(), round));
  if (!wrong) return "";
  return fmt::format("wrong header at byte offset {} of {}: rank {} received from rank {}", *wrong,
                     form.header_bytes, bench_.pair.rendezvous().rank(), bench_.pair.peer());
}

void Verifier::compare(Loops& loops, std::string_view when) {
  if (p_.check == Check::off) return;
  if (is_atomic(p_.api)) return check_value(loops, when);
  // The last byte of a put is its number.
  check_all(0, p_.bytes - (p_.api == Api::put ? 1 : 0), when);
  zero_all();
}

void Verifier::forget(const std::function<void()>& again) {
  if (p_.check == Check::off) return;
  zero_all();
  again();
  await_both();
}

// Both have their places, and nothing is under way that would go into them.
void Verifier::await_both() {
  if (bench_.duet != nullptr) {
    return bench_.duet->meet(bench_.pair.peer(), bench_.pair.leads(), progress_);
  }
  bench_.pair.await_both(progress_);
}

void Verifier::check_value(Loops& loops, std::string_view when) {
  const auto wrong = loops.one_sided()->wrong_value();
  note(wrong.empty() ? "" : "wrong value: " + wrong, when);
}

// A header belongs to its message: both are one check.
void Verifier::check_all(std::uint64_t round, std::uint64_t bytes, std::string_view when) {
  for (std::size_t thread = 0; thread < receive_.size(); ++thread) {
    const auto seed = seed_of(bench_.pair.peer(), p_.bytes, round, thread);
    const auto wrong = wrong_payload(thread, receive_[thread].mismatch(bytes, seed));
    note(wrong.empty() ? wrong_header(round) : wrong, when);
  }
}

std::string Verifier::wrong_payload(std::size_t thread, std::optional<std::size_t> at) const {
  if (!at) return "";
  return fmt::format("wrong data at byte offset {} of {}: rank {} received from rank {} by {}{}",
                     *at, p_.bytes, bench_.pair.rendezvous().rank(), bench_.pair.peer(),
                     to_string(p_.api), p_.threads > 1 ? fmt::format(" on thread {}", thread) : "");
}

void Verifier::note(const std::string& wrong, std::string_view when) {
  checks_.add(wrong.empty() ? "" : fmt::format("{}, {}", wrong, when));
}

void Verifier::check_window(Loops& loops, bool both_ways, std::string_view when) {
  const auto places = p_.checked_places();
  if (p_.check == Check::off || is_atomic(p_.api)) return;
  auto buffers = bench_.buffers(p_.bytes, p_.window, true);
  buffers.places = places;
  loops.use(buffers);
  const auto own = bench_.pair.rendezvous().rank();
  const std::uint64_t round = first_of_windows + places * windows_++;
  for (std::size_t thread = 0; thread < send_.size(); ++thread) {
    for (std::size_t at = 0; at < places; ++at) {
      const auto place = buffers.offset(at);
      send_[thread]
          .part(place, p_.bytes)
          .fill(p_.bytes, seed_of(own, p_.bytes, round + at, thread));
    }
    receive_[thread].poison(buffers.all_bytes());
  }
  await_both();
  const auto check = [&] { check_places(buffers, round, when); };
  if (auto* one_sided = loops.one_sided()) {
    carry_out(*one_sided, places, both_ways, check);
  } else {
    if (both_ways) {
      bench_.loops.meet();
      loops.both_ways(places);
    } else {
      loops.one_way(places);
    }
    // At once: what comes later has not come.
    if (both_ways || receives_one_way(bench_.pair.role(), p_.api)) check();
    bench_.pair.from_lead("flushed", progress_);
    bench_.pair.from_follow("compared", progress_);
  }
  fill_all(0);
  zero_all();
}

// Puts or gets of which each side's are looked at as they are when their origin knows them to be
// done. It says so beside the connection: what came behind puts on their own way would hide a flush
// that ended before they were there.
void Verifier::carry_out(OneSided& operations, std::uint64_t count, bool both_ways,
                         const std::function<void()>& check) {
  auto& pair = bench_.pair;
  const bool gets = p_.api == Api::get;
  const bool posts = both_ways || pair.leads();
  if (posts) operations.carry_out(count);
  if (posts && gets) check();
  // Where only one of the two posts, the other one alone is in need of progress.
  const auto waiting = posts && !both_ways ? standing_still(progress_) : progress_;
  pair.from_lead("done", waiting);
  if (both_ways) pair.from_follow("done", waiting);
  const bool was_put_to = both_ways || pair.role() != Role::lead;
  if (!gets && was_put_to) check();
  pair.from_lead("compared", waiting);
  pair.from_follow("compared", waiting);
}

void Verifier::check_places(const LinkBuffers& buffers, std::uint64_t round,
                            std::string_view when) {
  const bool in_order = keeps_order(p_);
  for (std::size_t thread = 0; thread < receive_.size(); ++thread) {
    std::vector<std::size_t> missing(buffers.places);
    std::iota(missing.begin(), missing.end(), std::size_t{0});
    for (std::size_t at = 0; at < buffers.places; ++at) {
      const auto place = receive_[thread].part(buffers.offset(at), p_.bytes);
      const auto wrong_as = [&](std::size_t message) {
        return place.mismatch(p_.bytes,
                              seed_of(bench_.pair.peer(), p_.bytes, round + message, thread));
      };
      auto wrong = wrong_as(at);
      if (!in_order) {
        const auto it = std::ranges::find_if_not(
            missing, [&](std::size_t message) { return wrong_as(message).has_value(); });
        if (it == missing.end()) {
          wrong = wrong.value_or(0);
        } else {
          missing.erase(it);
          wrong.reset();
        }
      }
      note(wrong_payload(thread, wrong), when);
    }
  }
}

void Verifier::exchange_checked_messages() {
  if (p_.check == Check::off) return;
  bench_.loops.use(bench_.buffers(p_.bytes, 1, false));
  for (std::uint64_t round = 1; round <= rounds(p_.check, p_.bytes); ++round) {
    auto* one_sided = bench_.loops.one_sided();
    const auto what = fmt::format("checked message {}", round);
    if (is_atomic(p_.api)) {
      bench_.loops.meet();  // the target has looked at what the round before left
      one_sided->exchange_words(round);
      check_value(bench_.loops, what);
      continue;
    }
    fill_all(round);
    zero_all();
    bench_.loops.meet();
    if (one_sided != nullptr) {
      carry_out(*one_sided, 1, true, [&] { check_all(round, p_.bytes, what); });
      continue;
    }
    bench_.loops.round_trips(1, nullptr);
    check_all(round, p_.bytes, what);
  }
}

Checks Verifier::outcome() {
  auto all = checks_;
  const auto follow = bench_.pair.from_follow(to_json(checks_), progress_);
  if (bench_.pair.role() == Role::lead) all.add(parse_checks(follow));
  return all;
}

}  // namespace ucxbench::pingpong
