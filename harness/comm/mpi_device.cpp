#include <poll.h>

#include <span>

#include "harness/comm/device.hpp"
#include "harness/comm/mpi_library.hpp"
#include "harness/core/activity.hpp"

namespace ucxbench {
namespace {

// MPI has nothing to wake by.
constexpr int nap_ms = 1;

/// MPI's point-to-point messages: a label is a tag of its own.
class MpiDevice final : public CommDevice {
 public:
  MpiDevice(int rank, int size) : rank_(rank), size_(size), mpi_(mpi_module()) {}
  ~MpiDevice() override { mpi_.forget(); }
  MpiDevice(const MpiDevice&) = delete;
  MpiDevice& operator=(const MpiDevice&) = delete;

  // Its calls wait for the other ranks by themselves.
  void connect(Rendezvous&, const Rendezvous::Progress&) override {
    process_ = &mpi_process();
    process_->check(rank_, size_);
  }

  void send(int to, std::uint64_t label, std::span<const std::byte> bytes,
            Message& message) override {
    check_mpi(mpi_.send(to, label, bytes.data(), bytes.size(), &message));
  }
  void receive(int from, std::uint64_t label, std::span<std::byte> bytes,
               Message& message) override {
    check_mpi(mpi_.receive(from, label, bytes.data(), bytes.size(), &message));
  }

  bool step() override {
    const MpiDone* all = nullptr;
    std::size_t count = 0;
    check_mpi(mpi_.step(&all, &count));
    for (const auto& done : std::span(all, count)) {
      auto& message = *static_cast<Message*>(done.message);
      check_mpi(done, message.bytes);
      message.over();
    }
    if (count > 0) activity().bump();
    return count > 0;
  }

  bool sleep(int also) override {
    pollfd answer{also, POLLIN, 0};
    ::poll(&answer, 1, nap_ms);
    return true;
  }
  void worked() override {}

  void close() override {}  // with the process

  std::vector<std::string> lanes(int) const override { return process_->lanes; }
  const std::map<std::string, std::string>& effective() const override {
    return process_->effective;
  }

 private:
  int rank_, size_;
  const MpiModule& mpi_;
  const MpiProcess* process_ = nullptr;
};

}  // namespace

std::unique_ptr<CommDevice> make_mpi_device(int rank, int size) {
  return std::make_unique<MpiDevice>(rank, size);
}

}  // namespace ucxbench
