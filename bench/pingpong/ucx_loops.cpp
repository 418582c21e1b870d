#include "bench/pingpong/ucx_loops.hpp"

#include <stdexcept>
#include <type_traits>
#include <utility>

#include "bench/pingpong/loops_over.hpp"
#include "bench/pingpong/one_sided_loops.hpp"
#include "harness/comm/ucx_am_link.hpp"
#include "harness/comm/ucx_links.hpp"

namespace ucxbench::pingpong {
namespace {

template <typename Progress>
struct WithProgress {
  WithProgress(ucp_worker_h worker, ProgressMode mode) : own_progress(made(worker, mode)) {}
  Progress own_progress;

 private:
  static Progress made(ucp_worker_h worker, [[maybe_unused]] ProgressMode mode) {
    if constexpr (std::is_same_v<Progress, PeriodicProgress>) {
      return Progress(worker, mode.period);
    } else {
      return Progress(worker);
    }
  }
};

// A link with progress of its own.
template <template <typename> typename LinkOver, typename Progress>
class UcxLink : WithProgress<Progress>, public LinkOver<Progress> {
 public:
  template <typename Worker, typename... Arguments>
  UcxLink(ProgressMode mode, ucp_worker_h handle, const Worker& worker, ucp_ep_h endpoint,
          Arguments&&... arguments)
      : WithProgress<Progress>(handle, mode),
        LinkOver<Progress>(worker, endpoint, this->own_progress,
                           std::forward<Arguments>(arguments)...) {}
};

struct Setup {
  Api api;
  ProgressMode mode;
  Role role;
  const Clock& clock;
  const UcxWorker& worker;
  ucp_ep_h endpoint;
  const Exchange& exchange;
};

template <template <typename> typename LinkOver, typename... More>
std::unique_ptr<Loops> messages(const Setup& s, More... more) {
  const auto made = [&]<typename Progress>() -> std::unique_ptr<Loops> {
    return std::make_unique<LoopsOver<UcxLink<LinkOver, Progress>>>(
        s.role, s.clock, s.mode, s.worker.handle(), s.worker.handle(), s.endpoint, more...);
  };
  switch (s.mode.kind) {
    case ProgressMode::Kind::poll:
      return made.template operator()<PollProgress>();
    case ProgressMode::Kind::event:
      return made.template operator()<EventProgress>();
    case ProgressMode::Kind::thread:
      return made.template operator()<ThreadProgress>();
    case ProgressMode::Kind::by_cpus:  // was settled before
    case ProgressMode::Kind::periodic:
      break;
  }
  return made.template operator()<PeriodicProgress>();
}

template <template <typename> typename LinkOver, typename... More>
std::unique_ptr<Loops> operations(const Setup& s, More... more) {
  const auto made = [&]<typename Progress>() -> std::unique_ptr<Loops> {
    return std::make_unique<OneSidedLoops<UcxLink<LinkOver, Progress>>>(
        s.api, s.role, s.clock, s.mode, s.worker.handle(), s.worker, s.endpoint, s.exchange,
        more...);
  };
  if (s.mode.kind == ProgressMode::Kind::poll) return made.template operator()<PollProgress>();
  if (s.mode.kind == ProgressMode::Kind::periodic) {
    return made.template operator()<PeriodicProgress>();
  }
  throw std::logic_error("was refused before");
}

}  // namespace

std::unique_ptr<Loops> make_ucx_loops(Api api, ProgressMode mode, Role role, const Clock& clock,
                                      const UcxWorker& worker, ucp_ep_h endpoint,
                                      const Exchange& exchange) {
  const Setup setup{api, mode, role, clock, worker, endpoint, exchange};
  switch (api) {
    case Api::tag:
      return messages<TagLink>(setup);
    case Api::stream:
      return messages<StreamLink>(setup);
    case Api::am: {
      auto loops = messages<AmLink>(setup, clock);
      // The peer takes messages from now on; one that came earlier would be lost.
      exchange({});
      return loops;
    }
    case Api::put:
      return operations<PutLink>(setup);
    case Api::get:
      return operations<GetLink>(setup);
    case Api::fadd:
    case Api::swap:
    case Api::cswap:
      break;
  }
  return operations<AtomicLink>(setup, api);
}

}  // namespace ucxbench::pingpong
