#pragma once

#include "harness/launch/rendezvous.hpp"

namespace ucxbench {

/// For who waits in the rendezvous while what is in memory now is looked at, here or by the rank
/// that it was put to: nothing moves, so that what UCX said too early to be there does not come in
/// the meantime. After a second `progress` is made all the same: another rank may need it to come.
Rendezvous::Progress standing_still(Rendezvous::Progress progress);

}  // namespace ucxbench
