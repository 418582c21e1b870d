#include "bench/pingpong/ucx_loops.hpp"

#include <stdexcept>
#include <type_traits>
#include <utility>

#include "bench/pingpong/loops_over.hpp"
#include "bench/pingpong/one_sided_loops.hpp"
#include "harness/comm/registration.hpp"
#include "harness/comm/ucx_am_link.hpp"
#include "harness/comm/ucx_links.hpp"

namespace ucxbench::pingpong {
namespace {

struct Waiting {
  ProgressMode mode;
  const LoopThread* thread;
};

template <typename Progress>
constexpr bool is_of_threads = std::is_same_v<Progress, ThreadPollProgress<int>> ||
                               std::is_same_v<Progress, ThreadPollProgress<std::atomic<int>>>;

template <typename Progress>
struct WithProgress {
  WithProgress(ucp_worker_h worker, const Waiting& how) : own_progress(made(worker, how)) {}
  Progress own_progress;

 private:
  static Progress made(ucp_worker_h worker, [[maybe_unused]] const Waiting& how) {
    if constexpr (std::is_same_v<Progress, PeriodicProgress>) {
      return Progress(worker, how.mode.period);
    } else if constexpr (is_of_threads<Progress>) {
      return Progress(worker, how.thread->number, *how.thread->another_failed);
    } else {
      return Progress(worker);
    }
  }
};

// A link with progress of its own, and the registrations of MessageForm::registered.
template <template <typename> typename LinkOver, typename Progress>
class UcxLink : WithProgress<Progress>, public LinkOver<Progress> {
 public:
  template <typename Worker, typename... Arguments>
  UcxLink(const Waiting& how, const UcxWorker& ucx, const Worker& worker,
          std::span<const ucp_ep_h> endpoints, Arguments&&... arguments)
      : WithProgress<Progress>(ucx.handle(), how),
        LinkOver<Progress>(worker, endpoints.front(), this->own_progress,
                           std::forward<Arguments>(arguments)...),
        sent_from_(ucx),
        received_into_(ucx) {
    this->take_in_turn(endpoints);
  }

  void use(LinkBuffers buffers) {
    if (buffers.form.registered) {
      buffers.send_handle = sent_from_.of({buffers.send, buffers.all_bytes()});
      buffers.receive_handle = received_into_.of({buffers.receive, buffers.all_bytes()});
    }
    LinkOver<Progress>::use(buffers);
  }

 private:
  KeptRegistration sent_from_, received_into_;
};

struct Setup {
  Api api;
  Waiting waiting;
  Role role;
  const Clock& clock;
  const UcxWorker& worker;
  std::span<const ucp_ep_h> endpoints;
  const Exchange& exchange;

  unsigned number() const { return waiting.thread == nullptr ? 0 : waiting.thread->number; }
};

// `made` for the progress of threads.
template <typename Made>
std::unique_ptr<Loops> of_thread(const LoopThread& thread, Made made) {
  if (thread.one_worker) {
    return made.template operator()<ThreadPollProgress<std::atomic<int>>>();
  }
  return made.template operator()<ThreadPollProgress<int>>();
}

template <template <typename> typename LinkOver, typename... More>
std::unique_ptr<Loops> messages(const Setup& s, More... more) {
  const auto made = [&]<typename Progress>() -> std::unique_ptr<Loops> {
    return std::make_unique<LoopsOver<UcxLink<LinkOver, Progress>>>(
        s.role, s.clock, s.waiting, s.worker, s.worker.handle(), s.endpoints, more...);
  };
  if (s.waiting.thread != nullptr) return of_thread(*s.waiting.thread, made);
  switch (s.waiting.mode.kind) {
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
        s.api, s.role, s.clock, s.waiting, s.worker, s.worker, s.endpoints, s.exchange, more...);
  };
  if (s.waiting.thread != nullptr) return of_thread(*s.waiting.thread, made);
  const auto kind = s.waiting.mode.kind;
  if (kind == ProgressMode::Kind::poll) return made.template operator()<PollProgress>();
  if (kind == ProgressMode::Kind::periodic) {
    return made.template operator()<PeriodicProgress>();
  }
  throw std::logic_error("was refused before");
}

}  // namespace

std::unique_ptr<Loops> make_ucx_loops(Api api, ProgressMode mode, Role role, const Clock& clock,
                                      const UcxWorker& worker, std::span<const ucp_ep_h> endpoints,
                                      const Exchange& exchange, const LoopThread* thread) {
  const Setup setup{api, {mode, thread}, role, clock, worker, endpoints, exchange};
  switch (api) {
    case Api::tag:
      return messages<TagLink>(setup, setup.number());
    case Api::stream:
      return messages<StreamLink>(setup);
    case Api::am: {
      auto loops = messages<AmLink>(setup, setup.number());
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
