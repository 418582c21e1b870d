#pragma once

#include <string>

#include "harness/core/failure.hpp"
#include "harness/launch/hub.hpp"
#include "harness/result/result.hpp"
#include "harness/result/run_file.hpp"
#include "harness/run/hosts.hpp"
#include "harness/run/launch_plan.hpp"

namespace ucxbench {

/// Puts what the ranks of launches report into the result, and that to disk.
class RankReports {
 public:
  RankReports(Result& result, RunFile& file);

  /// Takes what a rank has put under a key "report/…", of which RankContext (benchmark.hpp) makes
  /// the values. Returns the case that this launch has measured now, each once in a launch;
  /// otherwise nullptr.
  const Case* take(const LaunchPlan& plan, const std::string& key, const Hub::Bytes& value);

  /// Exit::wrong_data once a payload was wrong.
  Exit exit() const { return exit_; }

 private:
  void take_transfers(const Hub::Bytes& sections);
  void take_rank(const LaunchPlan& plan, Json facts);
  void take_protocols(const LaunchPlan& plan, const Json& report);
  const Case* take_case(const LaunchPlan& plan, const Json& report);

  Result& result_;
  RunFile& file_;
  HostNames hosts_;
  Exit exit_ = Exit::done;
};

}  // namespace ucxbench
