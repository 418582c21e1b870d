#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "bench/cli/options/options.hpp"
#include "harness/analysis/comparison/comparison.hpp"
#include "harness/core/failure.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// What is held against two runs, and where the verdicts go: of `compare` and of `ab`.
class ComparisonOptions {
 public:
  /// `across`: with --across-environments, for runs whose environments should be the same. The
  /// options refer to this object, and throw Failure(Exit::usage) for what cannot be meant.
  void add_options(CLI::App& command, bool across);

  /// Throws Failure(Exit::usage), before anything is measured, for what cannot be written
  /// or is one of the `inputs`.
  void check(const std::vector<std::string>& inputs) const;

  /// Compares two runs that were read from files, writes what was asked for, else the table unless
  /// `quiet`, and returns the verdict of --fail-on.
  Exit judge(const Result& base, const Result& now, const GlobalOptions& global) const;

  const Demands& demands() const { return demands_; }

  /// Whatever differs between the environments, it was meant to.
  void allow_other_environments() { demands_.across_environments = true; }

 private:
  Demands demands_;
  std::set<std::string, std::less<>> fail_on_;
  std::string json_, markdown_, junit_, html_;
};

}  // namespace ucxbench
