#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/result/result.hpp"

namespace ucxbench {

/// Worst first.
enum class Severity {
  error,    ///< what was measured is not what was asked, or is wrong
  warning,  ///< a figure is worse, or less certain, than this machine could give
  note,     ///< worth knowing when reading the figures
};

/// "error", "warning", "note": also the words of the run file.
std::string_view to_string(Severity severity);

/// One thing that a rule has seen.
struct Finding {
  std::string subject;   ///< "rank 3 (GPU3)", "pingpong tag, host to host, over tcp", "run"
  std::string evidence;  ///< what was seen, with its figures
  std::string next;      ///< the command to type, or what to do
  /// What it costs, of a message or a run as the evidence says; empty where that is not known.
  std::optional<double> cost_ms{};
  /// Of one host alone: its name, with which `subject` ends. What is the same on several is said
  /// once.
  std::string host{};
  unsigned of = 0;       ///< uses (rules/used.hpp) of which it speaks, beside its rule's
  std::string device{};  ///< of this network device: said where messages went by it
};

struct Judged;

/// A rule looks at a run, and speaks only where the run file itself shows what it claims.
struct Rule {
  std::string_view id;  ///< "far-nic"
  Severity severity = Severity::note;
  std::string_view description;  ///< one line for `list rules`
  std::vector<Finding> (*check)(const Judged& run);
  unsigned of =
      0;  ///< the uses (rules/used.hpp) of which it speaks; said_by() asks it of no others
  /// It speaks of how far the figures can be trusted, as it does on nearly every virtual machine.
  bool of_quality = false;
};

/// Every rule, worst first.
std::span<const Rule> rules();

/// What all rules see in a run, worst first, as `findings` of a run file. Those that an older file
/// has may be of rules that have been mended since (judge_anew).
Json findings_of(const Result& result);

/// How far a run's figures can be trusted.
struct Quality {
  std::string level;  ///< "good", "fair", "poor" or "failed": by the worst of the reasons
  std::vector<std::string> reasons;  ///< "3 launches give no 95 % interval"; none where good
};

/// By those of its findings that rules of quality made: a warning is poor, a note fair, and so is a
/// virtual machine. Where ranks of a case take turns on one GPU it is poor, and where a case or the
/// run did not pass it has failed.
Quality quality_of(const Result& result);

/// "fair: virtual machine; odd", or the level alone.
std::string in_words(const Quality& quality);

/// Whether a rule of quality made this finding.
bool of_quality(const Json& finding);

/// Figures that no machine gives, each a line, by today's rules whatever a file recorded. Whoever
/// draws conclusions from a run's other figures says so first.
std::vector<std::string> impossible_figures(const Judged& run);

/// By key, the cases that have one, and the first such line of each.
std::map<std::string, std::string> impossible_cases(const Judged& run);

/// Which rules' findings speak against measuring now, each once: errors and warnings.
std::vector<std::string> reasons_against_measuring(const Json& findings);

}  // namespace ucxbench
