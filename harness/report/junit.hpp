#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/result/result.hpp"

namespace ucxbench {

/// What a JunitCase was.
enum class JunitOutcome { passed, failure, error, skipped };

struct JunitCase {
  std::string classname, name;
  JunitOutcome outcome = JunitOutcome::passed;
  std::string type{}, message{};  ///< of one that did not pass
  std::string output{};           ///< of the case; may be empty
};

struct JunitSuite {
  std::string program;  ///< "ucx-bench check"
  std::string name;
  std::vector<std::pair<std::string_view, std::string>> properties{};
  std::vector<JunitCase> cases{};
  std::string output{};  ///< of the whole; may be empty
};

/// JUnit's XML as Jenkins and GitLab read it. The host, the beginning and the time taken are those
/// of `run`.
std::string junit_text(const JunitSuite& suite, const Result& run);

}  // namespace ucxbench
