#include "bench/pingpong/pair.hpp"

#include <fmt/format.h>

#include <utility>

#include "harness/run/together.hpp"
#include "harness/run/tournament.hpp"
#include "harness/run/wire.hpp"

namespace ucxbench::pingpong {

Pair::Pair(Rendezvous& rendezvous)
    : Pair(rendezvous, rendezvous.rank() / 2 * 2,
           rendezvous.size() == 1 ? 0 : rendezvous.rank() / 2 * 2 + 1, "") {}

Pair::Pair(Rendezvous& rendezvous, std::size_t round)
    : Pair(rendezvous, 0, 0, fmt::format(", round {}", round)) {
  const auto meeting = tournament(rendezvous.size(), rendezvous.rank()).at(round);
  lead_ = meeting.sends_first ? rendezvous.rank() : meeting.partner;
  follow_ = meeting.sends_first ? meeting.partner : rendezvous.rank();
  role_ = meeting.sends_first ? Role::lead : Role::follow;
}

Pair::Pair(Rendezvous& rendezvous, int lead, int follow, std::string round)
    : rendezvous_(rendezvous),
      round_(std::move(round)),
      lead_(lead),
      follow_(follow),
      role_(rendezvous.size() == 1      ? Role::alone
            : rendezvous.rank() == lead ? Role::lead
                                        : Role::follow) {}

std::string Pair::name_in_round(const std::string& words) const { return words + round_; }

Json Pair::from_lead(const Json& value, const Rendezvous::Progress& progress) {
  return share(leads(), value, progress);
}

Json Pair::from_follow(const Json& value, const Rendezvous::Progress& progress) {
  return share(role_ != Role::lead, value, progress);
}

void Pair::await_both(const Rendezvous::Progress& progress) {
  from_lead("here", progress);
  from_follow("here", progress);
}

Rendezvous::Bytes Pair::exchange(const Rendezvous::Bytes& own,
                                 const Rendezvous::Progress& progress) {
  const auto key = fmt::format("pair/{}{}/{}/", lead_, round_, exchanges_++);
  rendezvous_.put(key + std::to_string(rendezvous_.rank()), own, progress);
  return rendezvous_.get(key + std::to_string(peer()), progress);
}

bool Pair::one_clock(const Rendezvous::Progress& progress) {
  if (!one_clock_) {
    const auto own = to_bytes(clock_identity());
    one_clock_ = exchange(own, progress) == own;
  }
  return *one_clock_;
}

Json Pair::share(bool mine, const Json& value, const Rendezvous::Progress& progress) {
  const auto key = fmt::format("pair/{}{}/{}", lead_, round_, exchanges_++);
  if (mine) {
    rendezvous_.put(key, to_bytes(value), progress);
    return value;
  }
  return from_bytes(rendezvous_.get(key, progress));
}

}  // namespace ucxbench::pingpong
