#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/comm/link.hpp"
#include "harness/comm/mpi_library.hpp"
#include "harness/core/activity.hpp"

namespace ucxbench {

/// The messages of a pair over MPI, each by MPI_Isend or MPI_Irecv and MPI_Wait, as of a program
/// that is linked with MPI, but for one call by a pointer. `label` is of this link alone in its
/// process. Throws Failure as check_mpi does.
class MpiLink {
 public:
  MpiLink(const MpiModule& mpi, int peer, std::uint64_t label)
      : mpi_(mpi), route_(mpi.route(peer, label)) {}
  ~MpiLink() {
    for (auto* window : {&sends_, &receives_}) {
      for (; window->pending > 0; window->drop_oldest()) mpi_.give_up(&window->oldest());
    }
  }
  MpiLink(const MpiLink&) = delete;
  MpiLink& operator=(const MpiLink&) = delete;

  void use(const LinkBuffers& buffers) {
    buffers_ = buffers;
    for (auto* window : {&sends_, &receives_}) {
      window->requests.resize(static_cast<std::size_t>(buffers.window));
      window->first = 0;
    }
    sent_ = received_ = 0;
  }

  bool can_send() { return can_begin(sends_); }
  bool can_receive() { return can_begin(receives_); }

  void send() {
    if (sends_.full()) wait_oldest(sends_);
    check_mpi(
        mpi_.post_send(route_, buffers_.send + place_of(sent_), buffers_.bytes, sends_.next()));
  }
  void receive() {
    if (receives_.full()) wait_oldest(receives_);
    check_mpi(mpi_.post_receive(route_, buffers_.receive + place_of(received_), buffers_.bytes,
                                receives_.next()));
  }
  void start_receive() { receive(); }

  void wait_sends() {
    while (sends_.pending > 0) wait_oldest(sends_);
  }
  void wait_receives() {
    while (receives_.pending > 0) wait_oldest(receives_);
  }

  void signal() {
    static constexpr std::byte token{0x5a};
    MpiRequest request{};
    check_mpi(mpi_.post_send(route_, &token, 1, &request));
    finish(request, 1);
  }
  void await_signal() {
    std::byte token{};
    MpiRequest request{};
    check_mpi(mpi_.post_receive(route_, &token, 1, &request));
    finish(request, 1);
  }

  /// MPI has taken it.
  void flush() { wait_sends(); }

  /// MPI has no words of its own.
  std::string send_described() {
    send();
    wait_sends();
    return "";
  }

  MpiLink& progress() { return *this; }
  void turn() {
    const MpiDone* none = nullptr;
    std::size_t count = 0;
    check_mpi(mpi_.step(&none, &count));
  }
  template <typename Predicate>
  void until(Predicate predicate) {
    while (!predicate()) turn();
  }

 private:
  /// Messages under way, in the order of their posting.
  struct Window {
    std::vector<MpiRequest> requests;
    std::size_t first = 0, pending = 0;

    bool full() const { return pending == requests.size(); }
    MpiRequest& oldest() { return requests[first]; }
    MpiRequest* next() {
      const auto at = first + pending++;
      return &requests[at < requests.size() ? at : at - requests.size()];
    }
    void drop_oldest() {
      if (++first == requests.size()) first = 0;
      --pending;
    }
  };

  std::size_t place_of(std::size_t& number) {
    return buffers_.places > 1 ? buffers_.offset(number++) : 0;
  }

  bool can_begin(Window& window) {
    if (!window.full()) return true;
    MpiDone done{};
    if (!mpi_.test(&window.oldest(), &done)) return false;
    ended(window, done);
    return true;
  }

  void wait_oldest(Window& window) {
    MpiDone done{};
    mpi_.wait(&window.oldest(), &done);
    ended(window, done);
  }

  void ended(Window& window, const MpiDone& done) {
    window.drop_oldest();
    check_mpi(done, buffers_.bytes);
    activity().bump();
  }

  void finish(MpiRequest& request, std::uint64_t bytes) {
    MpiDone done{};
    mpi_.wait(&request, &done);
    check_mpi(done, bytes);
    activity().bump();
  }

  const MpiModule& mpi_;
  MpiRoute route_;
  LinkBuffers buffers_;
  Window sends_, receives_;
  std::size_t sent_ = 0, received_ = 0;  // messages, where there are several places
};

}  // namespace ucxbench
