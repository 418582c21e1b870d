#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/result/interval.hpp"

namespace ucxbench {

/// What must stand beside a figure wherever it goes: every writer that is read by another program
/// takes it from here.
struct RowFacts {
  std::string key;
  std::string parameters;  ///< JSON, on one line
  std::string transport;   ///< what carried the bytes; empty: not known
  std::string labels;      ///< of the machine and the case, "vm, same-gpu"
  /// Of the run, "fair: virtual machine"; behind it why no machine gives a figure of this case.
  std::string quality;
  std::string metric, unit;          ///< "latency_us", "us"
  std::optional<Interval> interval;  ///< of the median over launches
};

/// Makes them for the rows of one run, whose quality it finds once.
class FactsOf {
 public:
  explicit FactsOf(const Result& result);

  /// Of one metric of a case; without a metric, of the case alone.
  RowFacts row(const Case& of, const std::string& metric = "") const;

 private:
  const Result& result_;
  std::string quality_;
  std::map<std::string, std::string> impossible_;  ///< impossible_cases()
};

/// By their names in files, without the key, the metric and what is not known: {"labels", "vm"}.
std::vector<std::pair<std::string_view, std::string>> named(const RowFacts& facts);

/// Those on one line: "unit us; transport_used tcp; labels vm; …".
std::string in_words(const RowFacts& facts);

/// Labels, quality and what carried the messages of a whole run: of a check, whose limits are not
/// its cases.
std::vector<std::pair<std::string_view, std::string>> facts_of_run(const Result& result);

}  // namespace ucxbench
