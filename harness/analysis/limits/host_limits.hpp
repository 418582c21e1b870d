#pragma once

#include "harness/result/result.hpp"

namespace ucxbench {

/// Says of pairs between host memories of one host, carried by shared memory or tcp, what copying
/// there lets them reach, by `memory_copy` of that host: GB/s that memcpy copied on one core (C1),
/// and on all the ranks' cores at once (C). A byte copied is read once and written once, so that
/// memory carries 2 C.
///
/// Messages that leave and reach the same buffers again and again stay in caches as far as they
/// fit. For them C1 and C are of buffers that were copied likewise and are no larger than what
/// the message touches: of half its bytes for one core, of its bytes by the number of cores (two
/// or more) for all; the largest such that were measured, or else the smallest. Besides, one of the
/// two cores reads what the other wrote, no faster than it did so (`between_cores`, likewise of
/// half the message's bytes); where that was not measured of the one CPU that either rank is bound
/// to, nothing is said. For others (`buffers` is not "warm", or a workload's exchange) they are of
/// buffers that leave caches.
///
/// A pair's byte is copied n times: twice over posix and sysv (the sender copies it into a shared
/// segment, the receiver out of it), once over cma and knem (the receiver reads it out of the
/// sender's memory): UCX 1.20, src/uct/sm/mm and src/uct/sm/scopy. Over tcp the sender's core
/// copies it into the kernel and the receiver's out of it, whichever device of the host it takes;
/// UCX and MPI may copy it once more. A core copies at C1 at most (k threads of a rank at k C1), so
/// that alone a pair reaches min(C1, 2 C / 2 n). With all pairs at once each core has the copies of
/// all messages that its rank sends or receives, and memory all of them. Where UCX does not say
/// which way of shared memory it was, n = 1 and the limit is "at most".
///
/// It is a calibrated limit, no law: what was measured just before may have been held up by other
/// programs, and an exchange's messages may stay in caches. Nothing is said where the copies were
/// not measured.
void add_host_limits(Case& of, const Result& result);

}  // namespace ucxbench
