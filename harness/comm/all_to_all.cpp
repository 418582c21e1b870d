#include "harness/comm/all_to_all.hpp"

#include <span>

namespace ucxbench {

std::vector<std::vector<std::uint64_t>> all_to_all(
    Communicator& comm, const std::vector<std::vector<std::uint64_t>>& words) {
  // Two such exchanges in a row must not meet: nobody begins the second before all ended the first.
  constexpr std::uint64_t label = label_count / 2 - 1;
  auto theirs = words;
  Batch all;
  for (int peer = 0; peer < comm.size(); ++peer) {
    const auto at = static_cast<std::size_t>(peer);
    if (peer == comm.rank() || words[at].empty()) continue;
    comm.receive(peer, label, std::as_writable_bytes(std::span(theirs[at])), all);
    comm.send(peer, label, std::as_bytes(std::span(words[at])), all);
  }
  comm.wait(all);
  comm.barrier();
  return theirs;
}

std::vector<std::vector<std::uint64_t>> all_gather(Communicator& comm,
                                                   const std::vector<std::uint64_t>& words) {
  return all_to_all(comm, std::vector(static_cast<std::size_t>(comm.size()), words));
}

}  // namespace ucxbench
