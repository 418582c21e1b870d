#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/cli/plan/tune_search.hpp"
#include "harness/core/json.hpp"
#include "harness/launch/environment.hpp"

namespace ucxbench {

/// What `tune` has measured. It is kept in a file, so that an interrupted search can resume:
/// {"schema", "command", "ucx", "machine", "trials": [{"settings", "gains" (Trial's), "problem"}],
/// "confirmation": {"settings", "cases", "base", "new" (run files)}}.
class TuneState {
 public:
  /// Reads `file` if it exists. An empty name: nothing is kept. Throws Failure(Exit::usage) if the
  /// file belongs to another search, UCX or machine.
  TuneState(std::filesystem::path file, const std::string& command, const std::string& ucx,
            const std::string& machine);

  const Trial& trial(const Variables& settings) const;  ///< empty where there is none
  void keep(const Variables& settings, Trial trial);
  std::size_t trials() const { return trials_.size(); }

  struct RunFiles {
    std::filesystem::path base, now;
  };
  /// The run files that confirm these settings with these cases (a suite's args); empty where there
  /// are none.
  std::optional<RunFiles> confirmation(const Variables& settings,
                                       const std::vector<std::string>& cases) const;
  void keep_confirmation(const Variables& settings, const std::vector<std::string>& cases,
                         const RunFiles& files);

 private:
  void write() const;

  std::filesystem::path file_;
  Json about_;
  std::map<Variables, Trial> trials_;
  Json confirmation_;
};

}  // namespace ucxbench
