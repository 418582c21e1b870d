#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/names.hpp"

namespace ucxbench {

enum class TriageState { open, accepted, fixed, ignored };

inline constexpr Names<TriageState, 4> triage_states = {{{TriageState::open, "open"},
                                                         {TriageState::accepted, "accepted"},
                                                         {TriageState::fixed, "fixed"},
                                                         {TriageState::ignored, "ignored"}}};

/// What people have said of rows. Days are "2027-01-31".
struct TriageEntry {
  std::string id;  ///< a row's case and metric; * stands for anything
  TriageState state = TriageState::open;
  std::string reason, owner;
  std::string expiry;    ///< the last day on which the entry counts
  std::string day{};     ///< losses of later runs are not meant; empty: all are
  bool expired = false;  ///< expiry is before today
  bool used = false;     ///< a row was asked for that it is for

  /// Whether it was written of what a run shows that began then ("2026-01-01T…").
  bool covers(const std::string& started) const;
  /// A loss of that run is said to be right, or of no interest.
  bool excuses(const std::string& started) const;
};

/// `triage.yaml` in a folder of runs (docs/method/history.md): what can be read of it, and what is
/// wrong with the rest.
struct Triage {
  static constexpr const char* file_name = "triage.yaml";

  std::vector<TriageEntry> entries{};
  std::vector<std::string> problems{};  ///< each goes on after the file's name

  /// The first that is for the row and has not expired; nullptr where there is none.
  const TriageEntry* entry_for(const std::string& row);
};

/// `today` as "2026-11-29". A file that is not there has no entries.
Triage read_triage(const std::filesystem::path& folder, const std::string& today);

/// The same of a text: of YAML, a list of entries, each of `name: value` lines or of one
/// `{name: value, …}`; values are plain or quoted texts on one line.
Triage parse_triage(const std::string& text, const std::string& today);

}  // namespace ucxbench
