#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/pingpong/loops.hpp"
#include "bench/pingpong/pair.hpp"
#include "bench/pingpong/parameters.hpp"
#include "harness/core/clock.hpp"
#include "harness/launch/environment.hpp"
#include "harness/transports/protocol_tables.hpp"

namespace ucxbench::pingpong {

/// What a connection of a pair is made by: one subclass and one line of make_pair_device() for each
/// communication device (--comm).
class PairDevice {
 public:
  virtual ~PairDevice() = default;

  /// Connects with the peer, which calls it too; the loops are over this connection and need this
  /// object. `name` is of this connection alone.
  virtual std::unique_ptr<Loops> connect(Pair& pair, const Clock& clock,
                                         const std::string& name) = 0;
  /// One step for what waits while there are no loops, before and after.
  virtual void progress() {}
  /// Ends the connection. Its loops are gone, and the peer closes too.
  virtual void close() {}
  /// What it counted, if it was told to; nothing may be used after it.
  virtual std::vector<ProtocolUse> end() { return {}; }

  /// What messages may take, "tcp/lo".
  virtual std::vector<std::string> lanes() const = 0;
  /// What UCX expects of it (UcxEndpoint); nothing of other devices.
  virtual std::string printed_info() const { return ""; }
  virtual std::optional<double> evaluated_us(std::uint64_t) const { return std::nullopt; }
  /// The settings that it has in fact: UCX_TLS → "tcp".
  virtual const std::map<std::string, std::string>& effective() const = 0;
};

/// As parameters.comm says, with the API and progress mode of `parameters`, which outlive it.
/// `counts`, `settings`: UcxWorker's. Throws Failure(Exit::cannot_run).
std::unique_ptr<PairDevice> make_pair_device(const Parameters& parameters, bool counts,
                                             const Variables& settings);
std::unique_ptr<PairDevice> make_ucx_pair(const Parameters& parameters, bool counts,
                                          const Variables& settings);
std::unique_ptr<PairDevice> make_socket_pair(const Parameters& parameters);
std::unique_ptr<PairDevice> make_mpi_pair();

}  // namespace ucxbench::pingpong
