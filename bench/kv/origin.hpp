#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "bench/kv/cache.hpp"
#include "bench/kv/layout.hpp"
#include "harness/comm/choices.hpp"
#include "harness/comm/communicator.hpp"
#include "harness/core/clock.hpp"

namespace ucxbench::kv {

/// What a rank posts in each round: one get or put for each descriptor, layer by layer, and within
/// a layer peer by peer. As in NIXL's UCX plugin, each operation gets the handle of its own memory
/// and the flag that it is one of many, all are posted without progress in between (unless there is
/// a window), and a flush tells when they are done.
class Origin {
 public:
  /// `peers` in the layout's order. All arguments but the window must outlive this.
  Origin(Communicator& comm, Api op, const Layout& layout, const Cache& own,
         const std::deque<PeerCache>& peers, std::optional<int> window);
  Origin(const Origin&) = delete;
  Origin& operator=(const Origin&) = delete;

  // Times are by CLOCK_MONOTONIC, in ns.

  /// Posts a round, with a flush after its first layer and after its last. When the last operation
  /// had been posted, before that flush.
  std::uint64_t post();
  /// Waits. When the first layer, or all, was known to be done.
  std::uint64_t await_first_layer() { return await(first_layer_); }
  std::uint64_t await_all() { return await(all_); }
  /// When all with this peer was known to be done, by its position; after await_all().
  std::uint64_t done_with(std::size_t peer) const { return all_.parts[peer].ended_ns; }

  /// Posts `count` operations with each peer, and waits until they are done.
  void post_some(std::uint64_t count);
  /// Posts one of them. What UCX says about it (ucp_request_query).
  std::string describe_one();

 private:
  struct Entry {
    std::byte* own;
    std::uint64_t peers;  ///< address
  };
  /// The operations of a layer with one peer.
  struct Group {
    ucp_ep_h endpoint;
    ucp_rkey_h key;
    ucp_mem_h memory;
    std::size_t begin, end;  ///< of entries
  };
  struct Flush {
    struct Part {
      Flush* flush;
      std::uint64_t ended_ns = 0;

      void end() {
        ended_ns = monotonic_ns();
        if (--flush->open == 0) flush->ended_ns = ended_ns;
      }
    };
    Origin* origin;
    std::vector<Part> parts{};   ///< of each endpoint
    std::size_t open = 0;        ///< endpoints
    std::uint64_t ended_ns = 0;  ///< of the last one
  };

  ucs_status_ptr_t start(const Group& group, const Entry& entry,
                         const ucp_request_param_t& params) const;
  void post(const Group& group, std::size_t begin, std::size_t end);
  void begin(Flush& flush);
  std::uint64_t await(Flush& flush);
  void note(ucs_status_t status) {
    if (status != UCS_OK) error_ = status;
  }

  Communicator& comm_;
  bool gets_;
  std::uint64_t bytes_;
  std::size_t window_;
  std::vector<ucp_ep_h> endpoints_;
  std::vector<Entry> entries_;
  std::vector<Group> groups_;
  ucp_request_param_t params_{};
  std::size_t outstanding_ = 0;
  ucs_status_t error_ = UCS_OK;
  Flush first_layer_{.origin = this}, all_{.origin = this};
};

}  // namespace ucxbench::kv
