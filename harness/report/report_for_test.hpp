#pragma once

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "harness/analysis/annotate.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// As the program shows a run: with what its rules see in it.
inline Result as_read(Result result) {
  judge_anew(result);
  return result;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace ucxbench
