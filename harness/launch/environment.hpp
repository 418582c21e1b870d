#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace ucxbench {

using Variables = std::map<std::string, std::string>;

/// The environment of a rank, and what to record about it.
struct RankEnvironment {
  std::vector<std::string> entries;  ///< all of it, as "NAME=value"
  Variables asked;                   ///< UCX_* that the case or the user set
  Variables inherited;               ///< UCX_* that passed through
  Variables replaced;                ///< inherited UCX_* that lost, with their lost values
};

Variables current_environment();

/// Empty where it is not set.
std::string environment_variable(const char* name);

/// `from_user` (--ucx) wins over `from_case`, that over `inherited`. UCX_HANDLE_ERRORS is none
/// unless the user sets it: a rank's crash is the supervisor's to explain, without backtraces. The
/// token of a remote run does not reach ranks.
RankEnvironment rank_environment(const Variables& inherited, const Variables& from_case,
                                 const Variables& from_user);

/// A configuration file that UCX reads without a word.
struct UcxConf {
  std::filesystem::path path;
  Variables settings;
};

/// Where UCX looks.
struct UcxConfPlaces {
  std::filesystem::path system = "/etc/ucx";  ///< fixed when UCX was compiled; this is Debian's
  std::filesystem::path library;              ///< the file of libucs, empty when unknown
  std::filesystem::path working = ".";
};

/// The ucx.conf files that a process with `environment` reads. A setting in a later one overrides
/// the same in an earlier one; an environment variable overrides all.
std::vector<UcxConf> find_ucx_conf(const Variables& environment, const UcxConfPlaces& places);

}  // namespace ucxbench
