#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "harness/launch/remote.hpp"

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

  /// An address of this machine that the others can reach: loopback where all are here, else that
  /// by which the launcher's own daemons reach each other. Empty if it is not known.
  virtual std::string address() const = 0;

  /// Process 0 tells the others, which wait for that. Each once. Throw Failure(Exit::lost) when it
  /// takes longer than launcher_limit.
  virtual void tell(const Meeting& meeting) = 0;
  virtual Meeting hear() = 0;
};

inline constexpr std::chrono::seconds launcher_limit{60};

/// Null for a process that no launcher has started, or that it has started alone. Throws
/// Failure(Exit::cannot_run) where there is one that cannot be asked.
std::unique_ptr<Launcher> find_launcher();

/// Of what Open MPI's daemons say of themselves, "1827995648.0;tcp://10.0.0.1,10.1.0.1:57995", the
/// first address; empty for anything else.
std::string address_in_uri(const std::string& uri);

}  // namespace ucxbench
