#pragma once

// What carried bytes, and what they crossed. A transport set's member `nvlink` allows UCX's
// transport cuda_ipc, which takes NVLinks, PCIe or a copy inside one GPU: the carrier is one thing,
// the medium another.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/names.hpp"
#include "harness/result/result.hpp"
#include "harness/result/transports.hpp"

namespace ucxbench {

/// Of a member of a set, what UCX moves bytes by: "cuda_ipc" of "nvlink", else the member's name.
std::string carrier_of_member(const std::string& member);

/// What bytes crossed that cuda_ipc carried.
enum class Medium {
  nvlink,
  mnnvl,     ///< NVLinks between two hosts
  pcie,      ///< or what else joins GPUs without NVLinks
  same_gpu,  ///< none: a copy inside one GPU
  mixed,     ///< different ones for different pairs of ranks
  unknown,
};

/// What is known of a medium, and by what.
enum class MediumProof {
  counters,      ///< NVLink's counters saw the bytes
  path_class,    ///< the class of the path in the topology; no counter speaks against it
  one_gpu,       ///< the ranks have the same one
  contradicted,  ///< there are NVLinks on the path, and their counters did not see all the bytes
  none,          ///< neither counters nor a path are known
};

inline constexpr Names<Medium, 6> medium_names = {{{Medium::nvlink, "nvlink"},
                                                   {Medium::mnnvl, "mnnvl"},
                                                   {Medium::pcie, "pcie"},
                                                   {Medium::same_gpu, "same-gpu"},
                                                   {Medium::mixed, "mixed"},
                                                   {Medium::unknown, "unknown"}}};
inline constexpr Names<MediumProof, 5> medium_proof_names = {
    {{MediumProof::counters, "counters"},
     {MediumProof::path_class, "path-class"},
     {MediumProof::one_gpu, "one-gpu"},
     {MediumProof::contradicted, "contradicted"},
     {MediumProof::none, "none"}}};

struct SeenMedium {
  Medium medium = Medium::unknown;
  MediumProof proof = MediumProof::none;
  std::set<Medium> parts{};  ///< of a mixed one
  /// Of a contradicted one, the share of the bytes that NVLink's counters saw, from 0 up to
  /// below 1.
  std::optional<double> counted{};
  bool operator==(const SeenMedium&) const = default;
};

/// Of one medium, or mixed.
SeenMedium seen_medium(std::set<Medium> media, MediumProof proof);

/// "NVLink's counters stood still", "NVLink's counters saw 6 % of the bytes": of a contradicted
/// one.
std::string denial_in_words(const SeenMedium& seen);

/// "medium" and "medium_proof", of a mixed one also "media", of a contradicted one
/// "medium_counted", of a path or a pair; empty where cuda_ipc carried nothing, and in files of
/// before they said so.
std::optional<SeenMedium> medium_in(const Json& json);
void put_medium(const SeenMedium& seen, Json& json);

/// Why what was asked for did not carry a payload (--require, a site's `path`).
enum class Unmet {
  met,
  not_known,       ///< nobody can tell what carried it
  too_little,      ///< less than nearly all of the payload
  eliminated,      ///< of InfiniBand: neither a counter nor UCX names it, only others are ruled out
  inside_one_gpu,  ///< of nvlink, as all below: no link was crossed
  over_pcie,
  counters_deny,   ///< the counters of the NVLinks on the path did not see all of it
  medium_unknown,  ///< neither counters nor the topology tell
};
std::string to_string(Unmet unmet);  ///< "inside-one-gpu", …

/// The share of the payload that these members of a set, or "auto" for any, carried, by the shares
/// of each member or by a path's.
double share_by(const std::vector<std::string>& members,
                const std::map<std::string, double>& carried);
double share_by(const std::vector<std::string>& members, const Json& path);
/// By transports of this fabric; 0 also where nobody can tell.
double share_over(Fabric fabric, const Json& path);

/// Whether members of a set, or "auto" for any, carried nearly all of a payload, by a case's or a
/// launch's path and its medium. What cuda_ipc carried counts as `nvlink` only where it is known to
/// have crossed NVLinks, or was inside one GPU and `same_gpu` allows that.
Unmet unmet_by(const std::vector<std::string>& members, const Json& path,
               const std::optional<SeenMedium>& medium, bool same_gpu = false);

/// Those that carried at least 5 % of the payload, "cuda_ipc over PCIe": less is connecting and
/// answers. Empty where nobody can tell.
std::set<std::string> main_carriers(const Json& path, const std::optional<SeenMedium>& medium);

/// By pair of ranks, the medium of those of Case::pairs that have one.
std::map<std::pair<int, int>, std::optional<SeenMedium>> media_of_pairs(const Case& of);

/// "cuda_ipc over PCIe 90 %, tcp 10 %", of launches or pairs of which some are not known "tcp 67 %,
/// unknown 33 %"; empty where nobody can tell. Of a launch its case or pair knows the medium.
std::string carriers_in_words(const Json& path, const std::optional<SeenMedium>& medium);
std::string carriers_in_words(const Json& path);

}  // namespace ucxbench
