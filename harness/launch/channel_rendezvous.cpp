#include "harness/launch/channel_rendezvous.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <thread>
#include <utility>

#include "harness/core/cbor.hpp"
#include "harness/core/files.hpp"
#include "harness/launch/leftovers.hpp"
#include "harness/launch/process.hpp"

namespace ucxbench {
namespace {

// Spins this often before it sleeps: a barrier among ranks that have a CPU each stays quick, and
// with fewer CPUs than ranks the others get theirs soon. It wakes for the answer at once, and this
// often for messages that must move before others can come.
constexpr int spins_before_sleep = 200;
constexpr std::chrono::milliseconds nap{1};

// For a rank without memory to say so.
constexpr std::size_t last_memory_bytes = std::size_t{64} << 10U;
// For the supervisor to end a rank that has told it of its failure; it takes less than half of it.
constexpr std::chrono::seconds end_limit{2};

int variable(const char* name) {
  const char* text = std::getenv(name);
  const std::string_view view = text == nullptr ? "" : text;
  int value = -1;
  std::from_chars(view.data(), view.data() + view.size(), value);
  return value;
}

}  // namespace

bool ChannelRendezvous::is_rank() { return std::getenv(control_fd_variable) != nullptr; }

std::unique_ptr<ChannelRendezvous> ChannelRendezvous::from_environment() {
  const int fd = variable(control_fd_variable);
  const int rank = variable(rank_variable);
  const int size = variable(size_variable);
  if (fd < 0 || ::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || rank < 0 || rank >= size) {
    return nullptr;
  }
  auto rendezvous = std::make_unique<ChannelRendezvous>(Fd(fd), rank, size);
  if (const int number = variable(on_machine_variable); number >= 0) {
    rendezvous->on_machine_ = number;
  }
  // Who it is, since a wrapper may be what the supervisor started.
  rendezvous->channel_.send({{"type", "heartbeat"},
                             {"activity", 0},
                             {"pid", ::getpid()},
                             {"pid_namespace", own_namespace("pid")}});
  rendezvous->abort_on_uncaught();
  const int stop_fd = variable(stop_fd_variable);
  const bool open = stop_fd >= 0 && ::fcntl(stop_fd, F_SETFD, FD_CLOEXEC) == 0;
  rendezvous->lifeline_.emplace(rendezvous->channel_, open ? Fd(stop_fd) : Fd(),
                                static_cast<std::size_t>(rendezvous->size()));
  return rendezvous;
}

ChannelRendezvous::ChannelRendezvous(Fd control, int rank, int size)
    : channel_(std::move(control)), rank_(rank), size_(size), on_machine_(rank) {}

void ChannelRendezvous::put(std::string_view key, const Bytes& value, const Progress& progress) {
  ask({{"type", "put"}, {"key", key}, {"value", nlohmann::json::binary(value)}}, "ok", progress);
}

Rendezvous::Bytes ChannelRendezvous::get(std::string_view key, const Progress& progress) {
  auto answer = ask({{"type", "get"}, {"key", key}}, "value", progress);
  return std::move(answer.at("value").get_binary());
}

std::vector<Rendezvous::Bytes> ChannelRendezvous::all_gather(std::string_view key, const Bytes& own,
                                                             const Progress& progress) {
  const auto answer =
      ask({{"type", "gather"}, {"key", key}, {"value", nlohmann::json::binary(own)}}, "value",
          progress);
  auto values = from_cbor(answer.at("value").get_binary());
  if (!values) throw Failure(Exit::lost, "what the ranks have given is no list");
  std::vector<Bytes> all;
  for (auto& value : *values) all.push_back(std::move(value.get_binary()));
  return all;
}

void ChannelRendezvous::barrier(const Progress& progress) {
  ask({{"type", "barrier"}}, "go", progress);
}

void ChannelRendezvous::at_stop(const Finished& finished) {
  if (lifeline_) lifeline_->at_stop(finished);
}

void ChannelRendezvous::phase(std::string_view what) {
  channel_.send({{"type", "phase"}, {"what", what}});
}

void ChannelRendezvous::abort(const Failure& failure) noexcept {
  try {
    channel_.send({{"type", "fail"},
                   {"exit", static_cast<int>(failure.exit())},
                   {"reason", std::string(failure.what())}});
    std::this_thread::sleep_for(end_limit);
  } catch (const std::exception&) {
    // The supervisor is gone or ending the run: nobody is left to be told.
  }
  if (lifeline_) lifeline_->end(failure.exit());
  ::_exit(static_cast<int>(failure.exit()));
}

void ChannelRendezvous::abort_on_uncaught() {
  static ChannelRendezvous* rendezvous = nullptr;
  rendezvous = this;
  static auto last_memory = std::make_unique<std::array<std::byte, last_memory_bytes>>();
  // Where no handler is found, GCC and Clang on Linux call this before they unwind anything (the
  // standard leaves that open, [except.terminate]).
  std::set_terminate([] {
    if (!std::current_exception()) std::abort();
    try {
      throw;
    } catch (const Failure& failure) {
      rendezvous->abort(failure);
    } catch (const std::bad_alloc&) {
      last_memory.reset();
      rendezvous->abort(Failure(Exit::lost, "out of memory"));
    } catch (const std::exception& error) {
      rendezvous->abort(Failure(Exit::lost, error.what()));
    }
  });
}

void ChannelRendezvous::finish() { channel_.send({{"type", "finish"}}); }

nlohmann::json ChannelRendezvous::ask(const nlohmann::json& request, std::string_view answer,
                                      const Progress& progress) {
  channel_.send(request);
  for (int spins = 0;; ++spins) {
    if (auto frame = channel_.receive()) {
      if (frame->value("type", "") == answer) return std::move(*frame);
      throw Failure(Exit::lost, fmt::format("the run is being aborted: expected '{}', got '{}'",
                                            answer, frame->value("type", "")));
    }
    if (channel_.ended()) throw Failure(Exit::lost, "the run is being aborted");
    if (!progress) {
      channel_.wait(std::chrono::seconds(1));
      continue;
    }
    progress();
    if (spins >= spins_before_sleep) channel_.wait(nap);
  }
}

}  // namespace ucxbench
