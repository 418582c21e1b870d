#include "bench/pingpong/ucx_loops.hpp"

#include "bench/pingpong/loops_over.hpp"
#include "harness/comm/ucx_links.hpp"

namespace ucxbench::pingpong {
namespace {

template <typename Progress>
struct WithProgress {
  template <typename... Arguments>
  explicit WithProgress(Arguments... arguments) : own_progress(arguments...) {}
  Progress own_progress;
};

// A link with progress of its own.
template <template <typename> typename LinkOver, typename Progress>
class UcxLink : WithProgress<Progress>, public LinkOver<Progress> {
 public:
  template <typename... Arguments>
  UcxLink(ucp_worker_h worker, ucp_ep_h endpoint, Arguments... arguments)
      : WithProgress<Progress>(worker, arguments...),
        LinkOver<Progress>(worker, endpoint, this->own_progress) {}
};

template <template <typename> typename LinkOver>
std::unique_ptr<Loops> over(ProgressMode mode, Role role, const Clock& clock, ucp_worker_h worker,
                            ucp_ep_h endpoint) {
  switch (mode.kind) {
    case ProgressMode::Kind::poll:
      return std::make_unique<LoopsOver<UcxLink<LinkOver, PollProgress>>>(role, clock, worker,
                                                                          endpoint);
    case ProgressMode::Kind::event:
      return std::make_unique<LoopsOver<UcxLink<LinkOver, EventProgress>>>(role, clock, worker,
                                                                           endpoint);
    case ProgressMode::Kind::thread:
      return std::make_unique<LoopsOver<UcxLink<LinkOver, ThreadProgress>>>(role, clock, worker,
                                                                            endpoint);
    case ProgressMode::Kind::by_cpus:  // was settled before
    case ProgressMode::Kind::periodic:
      break;
  }
  return std::make_unique<LoopsOver<UcxLink<LinkOver, PeriodicProgress>>>(role, clock, worker,
                                                                          endpoint, mode.period);
}

}  // namespace

std::unique_ptr<Loops> make_ucx_loops(Api api, ProgressMode mode, Role role, const Clock& clock,
                                      ucp_worker_h worker, ucp_ep_h endpoint) {
  return api == Api::tag ? over<TagLink>(mode, role, clock, worker, endpoint)
                         : over<StreamLink>(mode, role, clock, worker, endpoint);
}

}  // namespace ucxbench::pingpong
