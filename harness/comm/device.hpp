#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/comm/choices.hpp"
#include "harness/comm/transfer_log.hpp"
#include "harness/launch/rendezvous.hpp"

namespace ucxbench {

class CommDevice;
class Communicator;

/// All labels, those of the communicator's own messages too, are below this: few enough for the
/// tags of MPI.
inline constexpr std::uint64_t label_count = std::uint64_t{1} << 27U;

/// Messages that are waited for together.
struct Batch {
  std::size_t in_flight = 0;
  bool done() const { return in_flight == 0; }
};

/// A message under way. It is its communicator's, and stays where it is until its device has said
/// that it is over.
struct Message {
  Communicator* owner = nullptr;  ///< null: forgotten, nobody is to be told
  CommDevice* device = nullptr;   ///< for the device's own use
  Batch* batch = nullptr;
  std::size_t logged = TransferLog::none;
  std::size_t bytes = 0;

  /// To be called by the device, once. The message may be another one after it.
  void over();
};

/// How the ranks of a launch are to reach each other, and wait.
struct CommSetup {
  CommKind kind = CommKind::ucx;
  std::vector<std::string> transports{};  ///< members of the set; UCX has them from its environment
  ConnectBy connect_by = ConnectBy::address;
  std::string net_devices{};
  ProgressMode progress{};   ///< poll or event
  bool crowded = false;      ///< some ranks wait for a processor: others go first
  bool takes_turns = false;  ///< rest() sleeps, whatever the progress
};

/// What moves a communicator's messages: a library, or sockets. Of one thread. What every device
/// needs alike (labels, batches, the transfer log, barriers) is the communicator's.
class CommDevice {
 public:
  virtual ~CommDevice() = default;

  /// Connects this rank with all others. Throws Failure.
  virtual void connect(Rendezvous& rendezvous, const Rendezvous::Progress& progress) = 0;

  /// Begins a message, which may be over at once. It goes to the receive with the same label, which
  /// expects as many bytes. Never to or from this rank itself.
  virtual void send(int to, std::uint64_t label, std::span<const std::byte> bytes,
                    Message& message) = 0;
  virtual void receive(int from, std::uint64_t label, std::span<std::byte> bytes,
                       Message& message) = 0;

  /// One step of progress, without waiting; whether anything happened. Throws Failure when a
  /// message failed: Exit::wrong_data for one of another length than was expected, else Exit::lost.
  virtual bool step() = 0;

  /// After a step in which nothing happened; only where the setup says that ranks sleep or take
  /// turns. Returns when there may be something to do, or `also` (a descriptor; -1: none) can be
  /// read, or after a limit: at once, and false, where the device is not idle.
  virtual bool sleep(int also) = 0;
  /// Something happened in a step of a rank that may sleep.
  virtual void worked() = 0;

  /// All messages of all ranks have arrived: ends the connections, or lets them end at once with
  /// this object. Nothing else is called after it.
  virtual void close() = 0;

  /// What messages to a peer may take, "tcp/lo"; empty: the device does not say.
  virtual std::vector<std::string> lanes(int peer) const = 0;
  /// The settings that it has in fact: UCX_TLS → "tcp".
  virtual const std::map<std::string, std::string>& effective() const = 0;
};

/// As setup.kind says. Throws Failure(Exit::cannot_run).
std::unique_ptr<CommDevice> make_device(int rank, int size, const CommSetup& setup);
std::unique_ptr<CommDevice> make_ucx_device(int rank, int size, const CommSetup& setup);
std::unique_ptr<CommDevice> make_socket_device(int rank, int size, const CommSetup& setup);
/// In a process that MpirunJob has given a place.
std::unique_ptr<CommDevice> make_mpi_device(int rank, int size);

/// Why these sockets cannot carry messages so; empty where they can.
std::string why_no_sockets(const std::vector<std::string>& transports, bool gpu_memory,
                           bool one_host);

}  // namespace ucxbench
