#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/launch/environment.hpp"
#include "harness/result/transports.hpp"
#include "harness/transports/resources.hpp"

namespace ucxbench {

/// What one `--transports` option enables: members in canonical order (self, shm, tcp, nvlink, ib),
/// or "auto" alone.
class TransportSet {
 public:
  /// "tcp,shm". Throws Failure(Exit::usage), with the nearest name, for an unknown or empty member,
  /// and for "auto" beside others.
  static TransportSet parse(std::string_view text);

  static TransportSet of(const std::vector<std::string>& members);

  const std::vector<std::string>& members() const { return members_; }
  bool names(Fabric fabric) const;    ///< one of its members is of it
  bool may_use(Fabric fabric) const;  ///< names it, or leaves the choice to UCX

  /// "tcp+nvlink", as it stands in case keys.
  std::string name() const;

 private:
  std::vector<std::string> members_;
};

/// Why no message can miss a demand that this set carries it: it is all that there is between
/// ranks. Empty where one can.
std::string why_never_missed(const TransportSet& set);

/// One UCX setting of a case, and why it is made.
struct UcxSetting {
  std::string key, value, why;
};

/// What a set is used for.
struct SetUse {
  std::string net_devices{};  ///< UCX_NET_DEVICES' value; empty leaves all
  bool sockaddr = false;      ///< endpoints are made through a listener
  bool gpu_memory = false;    ///< messages come from or go to GPU or managed memory
  bool one_host = true;       ///< all ranks are on this host
  int endpoints = 1;          ///< that UCX is to expect of a worker
  int ranks_here = 1;         ///< that share this host's devices
  std::optional<bool> gdr{};  ///< GPUDirect RDMA and GDRCopy: as UCX decides, or on, or off
};

/// What a set sets, and why.
std::vector<UcxSetting> ucx_settings(const TransportSet& set, const SetUse& use);

/// Refuses what settings of the user's own (--ucx), which win over a set's, would make of it, with
/// Failure(Exit::usage): a crash or a hang, not a measurement.
void check_overrides(const Variables& from_user, const TransportSet& set, bool gpu_memory);

/// What UCX over InfiniBand lacks in a process that may lock so much memory; empty when it is
/// enough.
std::string lockable_problem(std::optional<std::uint64_t> lockable_bytes);

/// Whether UCX has something here for this member of a set.
bool available(std::string_view member, const UcxResources& resources);

/// Why `set` cannot be used so with these resources, one line per missing member; empty when it
/// can.
std::vector<std::string> missing(const TransportSet& set, const UcxResources& resources,
                                 const SetUse& use = {});

}  // namespace ucxbench
