#include "bench/pingpong/pair.hpp"

#include <fmt/format.h>

#include "harness/run/together.hpp"
#include "harness/run/wire.hpp"

namespace ucxbench::pingpong {

Pair::Pair(Rendezvous& rendezvous)
    : rendezvous_(rendezvous),
      lead_(rendezvous.rank() / 2 * 2),
      follow_(rendezvous.size() == 1 ? 0 : lead_ + 1),
      role_(rendezvous.size() == 1       ? Role::alone
            : rendezvous.rank() == lead_ ? Role::lead
                                         : Role::follow) {}

Json Pair::from_lead(const Json& value, const Rendezvous::Progress& progress) {
  return share(leads(), value, progress);
}

Json Pair::from_follow(const Json& value, const Rendezvous::Progress& progress) {
  return share(role_ != Role::lead, value, progress);
}

Rendezvous::Bytes Pair::exchange(const Rendezvous::Bytes& own,
                                 const Rendezvous::Progress& progress) {
  const auto key = fmt::format("pair/{}/{}/", lead_, exchanges_++);
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
  const auto key = fmt::format("pair/{}/{}", lead_, exchanges_++);
  if (mine) {
    rendezvous_.put(key, to_bytes(value), progress);
    return value;
  }
  return from_bytes(rendezvous_.get(key, progress));
}

}  // namespace ucxbench::pingpong
