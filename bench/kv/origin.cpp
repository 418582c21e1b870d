#include "bench/kv/origin.hpp"

#include <algorithm>
#include <span>

#include "harness/comm/ucx_links.hpp"
#include "harness/transports/ucx_error.hpp"

namespace ucxbench::kv {

Origin::Origin(Communicator& comm, Api op, const Layout& layout, const Cache& own,
               const std::deque<PeerCache>& peers, std::optional<int> window)
    : comm_(comm),
      gets_(op == Api::get),
      bytes_(layout.shape().bytes),
      window_(window ? static_cast<std::size_t>(*window)
                     : std::numeric_limits<std::size_t>::max()) {
  const auto& ranks = layout.peers_of(comm.rank());
  entries_.reserve(layout.of_pair() * ranks.size());
  for (std::uint64_t layer = 0; layer < layout.layers(); ++layer) {
    for (std::size_t peer = 0; peer < ranks.size(); ++peer) {
      const auto here = layout.number_among_peers(comm.rank(), ranks[peer]);
      const auto& memory = peers[peer].layer(layer);
      const auto before = layout.bytes_before_layer(ranks[peer], layer);
      const auto begin = entries_.size();
      for (auto number = layout.before_layer(layer); number < layout.before_layer(layer + 1);
           ++number) {
        entries_.push_back(
            {own.data() + layout.place(comm.rank(), peer, layer, number),
             memory.address() + layout.place(ranks[peer], here, layer, number) - before});
      }
      groups_.push_back({.endpoint = peers[peer].endpoint(),
                         .key = memory.key(),
                         .memory = own.layer(layer).handle(),
                         .begin = begin,
                         .end = entries_.size()});
    }
  }
  for (const auto& peer : peers) endpoints_.push_back(peer.endpoint());
  params_.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                         UCP_OP_ATTR_FIELD_MEMH | UCP_OP_ATTR_FLAG_MULTI_SEND;
  params_.user_data = this;
  params_.cb.send = [](void* request, ucs_status_t status, void* self) {
    auto& origin = *static_cast<Origin*>(self);
    origin.note(status);
    --origin.outstanding_;
    ucp_request_free(request);
  };
}

ucs_status_ptr_t Origin::start(const Group& group, const Entry& entry,
                               const ucp_request_param_t& params) const {
  return gets_ ? ucp_get_nbx(group.endpoint, entry.own, bytes_, entry.peers, group.key, &params)
               : ucp_put_nbx(group.endpoint, entry.own, bytes_, entry.peers, group.key, &params);
}

void Origin::post(const Group& group, std::size_t begin, std::size_t end) {
  params_.memh = group.memory;
  for (auto at = begin; at < end; ++at) {
    while (outstanding_ >= window_) comm_.wait_a_step();
    ++outstanding_;
    auto* request = start(group, entries_[at], params_);
    if (UCS_PTR_IS_PTR(request)) continue;
    --outstanding_;
    check(UCS_PTR_STATUS(request), "posting a descriptor");
  }
}

std::uint64_t Origin::post() {
  const auto first = endpoints_.size();  // groups of the first layer
  for (std::size_t at = 0; at < groups_.size(); ++at) {
    if (at == first) begin(first_layer_);
    post(groups_[at], groups_[at].begin, groups_[at].end);
  }
  const auto posted_ns = monotonic_ns();
  if (first == groups_.size()) begin(first_layer_);
  begin(all_);
  return posted_ns;
}

void Origin::post_some(std::uint64_t count) {
  // The groups of the first layer are one of each peer.
  for (const auto& group : std::span(groups_).first(endpoints_.size())) {
    for (auto left = count; left > 0;) {
      const auto most = std::min<std::uint64_t>(left, group.end - group.begin);
      post(group, group.begin, group.begin + most);
      left -= most;
    }
  }
  begin(all_);
  await_all();
}

std::string Origin::describe_one() {
  const auto& group = groups_.front();
  ucp_request_param_t params{};
  params.op_attr_mask =
      UCP_OP_ATTR_FIELD_MEMH | UCP_OP_ATTR_FLAG_MULTI_SEND | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  params.memh = group.memory;
  auto* request = start(group, entries_.front(), params);
  if (UCS_PTR_IS_ERR(request)) check(UCS_PTR_STATUS(request), "posting a descriptor");
  std::string words;
  if (request != nullptr) {
    while (ucp_request_check_status(request) == UCS_INPROGRESS) comm_.wait_a_step();
    words = words_of(request);
    ucp_request_free(request);
  }
  begin(all_);
  await_all();
  return words;
}

void Origin::begin(Flush& flush) {
  ucp_request_param_t params{};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  params.cb.send = [](void* request, ucs_status_t status, void* user) {
    auto& of = *static_cast<Flush::Part*>(user);
    of.flush->origin->note(status);
    of.end();
    ucp_request_free(request);
  };
  flush.open = endpoints_.size();
  flush.parts.resize(endpoints_.size(), {&flush});
  for (std::size_t peer = 0; peer < endpoints_.size(); ++peer) {
    params.user_data = &flush.parts[peer];
    auto* request = ucp_ep_flush_nbx(endpoints_[peer], &params);
    if (UCS_PTR_IS_PTR(request)) continue;
    check(UCS_PTR_STATUS(request), "ucp_ep_flush_nbx");
    flush.parts[peer].end();
  }
}

std::uint64_t Origin::await(Flush& flush) {
  while (flush.open > 0) comm_.wait_a_step();
  check(error_, "a put or get");
  return flush.ended_ns;
}

}  // namespace ucxbench::kv
