#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/failure.hpp"
#include "harness/report/report.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// By option: where its output goes; `inputs`: the files that the command reads. Throws
/// Failure(Exit::usage) when a file cannot be written, two outputs want stdout or the same file, or
/// one would overwrite an input.
void check_outputs(const std::map<std::string, std::string>& files,
                   const std::vector<std::string>& inputs = {});

/// Writes `bytes` to `file`, nowhere for an empty name, to stdout for "-"; $GITHUB_STEP_SUMMARY is
/// appended to. Returns whether it was stdout. Throws Failure(Exit::usage).
bool write_output(const std::string& file, const std::string& bytes);

/// For what was measured: as write_output, but where that is impossible, to a spare_place, and says
/// so. Exit::lost then.
Exit write_or_keep(const std::string& file, const std::string& bytes);

/// <utc>-<command>-<pid>.json in `folder`, which is made where it is not there; empty means
/// ucx-bench-runs/. Nothing is written yet.
std::filesystem::path new_run_file(const std::filesystem::path& folder, const std::string& command);

/// Where a command's results go: --json, --csv, --markdown, --html and other formats, each to a
/// file or to "-" for stdout, and the table, which is shown unless something else takes stdout.
class Outputs {
 public:
  void add_options(CLI::App& command);
  /// --trace and --transfers too, for a command whose runs may have a transfer log.
  void add_transfer_options(CLI::App& command);

  /// --junit and --prometheus, of a command whose runs have limits.
  void add_check_options(CLI::App& command);

  /// As check_outputs; `input` is the run that is read, which --json may write anew, `others` are
  /// files that are read and stay.
  void check(const std::string& input = "", const std::vector<std::string>& others = {}) const;

  /// Throws Failure(Exit::usage) when an output is asked for that needs a transfer log.
  void need_no_transfers() const;

  /// Whether one of them is stdout.
  bool takes_stdout() const;

  /// The run file: --json; where that is a folder, <machine>/<yyyy-mm>/<utc>-<command>-<pid>.json
  /// in it; in ucx-bench-runs/ when it is not given (or is "-").
  std::filesystem::path run_file(const std::string& command, const Result& result) const;
  /// Nobody named it: it is in ucx-bench-runs/.
  bool keeps_unasked() const;

  /// Everything but a run file and a page, and the table unless it is nullopt; beside a run in a
  /// folder, what its machine is. Exit::lost where something is not where it was asked for, which
  /// is said.
  Exit write(const Result& result, const std::optional<RenderOptions>& table) const;

  /// --dry-run: the plan of the run, as JSON, to --json -; to a file only for_ab, because it would
  /// take the place of a recorded run. Returns whether stdout has it.
  bool write_plan(const Json& plan, bool for_ab) const;

  /// --json FILE, for a command that did not write it as it went.
  void write_run(const Result& result) const;

  /// --html FILE, drawn by a script, which says itself what it could not do.
  Exit write_page(const Result& result) const;

 private:
  void add_option(CLI::App& command, const std::string& format);

  std::map<std::string, std::string> files_;  ///< by format
  std::string page_;
};

}  // namespace ucxbench
