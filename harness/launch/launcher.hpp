#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "harness/launch/listener.hpp"

namespace ucxbench {

/// mpirun, srun or the like, which has started this process and others like it: each of them is a
/// host of one run, with ranks of its own.
class Launcher {
 public:
  /// Where process 0 listens for the others, and the secret that all share.
  struct Meeting {
    HostPort at;
    std::string token;
  };

  virtual ~Launcher() = default;

  virtual int index() const = 0;  ///< of this process
  virtual int count() const = 0;  ///< of all, at least 2

  /// Where process 0 is to listen: on loopback where all are on this machine, else on an address
  /// that the launcher's own daemons use, or on that of `listen`, as --listen has it, unless empty.
  /// Port "0": any. The secret is that of `token_file`, unless empty. Throws Failure(Exit::usage)
  /// where no address is known.
  virtual Meeting place(const std::string& listen, const std::string& token_file) = 0;

  /// Process 0 tells the others where it listens, and they wait for that. Each once. Throw
  /// Failure(Exit::lost) when it takes longer than launcher_limit.
  virtual void tell(const Meeting& meeting) = 0;
  virtual Meeting hear(const std::string& listen, const std::string& token_file) = 0;
};

inline constexpr std::chrono::seconds launcher_limit{60};

/// Null for a process that no launcher has started, or that it has started alone. Throws
/// Failure(Exit::cannot_run) where there is one that cannot be asked.
std::unique_ptr<Launcher> find_launcher();

/// The own address on the way to a host; empty if there is none.
std::string address_towards(const std::string& host);

/// Where there are several hosts, and where to listen is not known.
[[noreturn]] void ask_for_address();

/// Of what Open MPI's daemons say of themselves, "1827995648.0;tcp://10.0.0.1,10.1.0.1:57995", the
/// first address; empty for anything else.
std::string address_in_uri(const std::string& uri);

}  // namespace ucxbench
