#include "bench/pingpong/loops_over.hpp"
#include "bench/pingpong/pair_device.hpp"
#include "harness/comm/socket_link.hpp"
#include "harness/comm/sockets.hpp"

namespace ucxbench::pingpong {
namespace {

template <SocketMessages messages>
std::unique_ptr<Loops> loops_for(ProgressMode mode, Role role, const Clock& clock, int fd,
                                 int peer) {
  if (mode.kind == ProgressMode::Kind::event) {
    return std::make_unique<LoopsOver<SocketLink<messages, SocketSleeps>>>(role, clock, fd, peer);
  }
  return std::make_unique<LoopsOver<SocketLink<messages, SocketPolls>>>(role, clock, fd, peer);
}

/// One stream socket.
class SocketPair final : public PairDevice {
 public:
  explicit SocketPair(const Parameters& parameters) : parameters_(parameters) {}

  // The lead connects, which says who it is: on a connection for traffic one way the follower sends
  // nothing at all.
  std::unique_ptr<Loops> connect(Pair& pair, const Clock& clock, const std::string& name) override {
    socket_ = connect_socket(SocketWays::of(parameters_.transports, parameters_.net_devices),
                             pair.leads(), pair.rendezvous(), pair.peer(), name, [] {});
    lanes_ = {lane_of_socket(socket_.get())};
    effective_ = options_of_socket(socket_.get());
    const auto make = parameters_.api == Api::stream ? loops_for<SocketMessages::bare>
                                                     : loops_for<SocketMessages::framed>;
    return make(parameters_.progress, pair.role(), clock, socket_.get(), pair.peer());
  }
  void close() override { socket_.reset(); }

  std::vector<std::string> lanes() const override { return lanes_; }
  const std::map<std::string, std::string>& effective() const override { return effective_; }

 private:
  const Parameters& parameters_;
  Fd socket_;
  std::vector<std::string> lanes_;
  std::map<std::string, std::string> effective_;
};

}  // namespace

std::unique_ptr<PairDevice> make_socket_pair(const Parameters& parameters) {
  return std::make_unique<SocketPair>(parameters);
}

}  // namespace ucxbench::pingpong
