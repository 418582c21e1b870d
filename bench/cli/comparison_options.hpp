#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "harness/core/failure.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// What is held against two runs, and where the verdicts go: of `compare` and of `ab`.
class ComparisonOptions {
 public:
  /// `across`: with --across-environments, for runs whose environments should be the same.
  void add_options(CLI::App& command, bool across);

  /// Throws Failure(Exit::usage), before anything is measured, for what cannot be meant or written.
  void check() const;

  /// Compares two runs that were read from files, writes what was asked for, else the table unless
  /// `quiet`, and returns the verdict of
  /// --fail-on.
  Exit judge(const Result& base, const Result& now, bool quiet) const;

  /// Whatever differs between the environments, it was meant to.
  void allow_other_environments() { across_environments_ = true; }

 private:
  double alpha_ = 0.01;
  std::string floor_ = "0.5%";
  std::string fail_on_, json_, markdown_, html_;
  bool across_environments_ = false;
};

}  // namespace ucxbench
