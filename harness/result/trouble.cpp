#include "harness/result/trouble.hpp"

#include <algorithm>
#include <cctype>

#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t longest_warning = 500;

/// "0x7f12ab: rank 12" → "#: rank #".
std::string without_numbers(const std::string& line) {
  std::string kind;
  for (std::size_t at = 0; at < line.size();) {
    if (std::isdigit(static_cast<unsigned char>(line[at])) == 0) {
      kind += line[at++];
      continue;
    }
    kind += '#';
    const bool hexadecimal = line.compare(at, 2, "0x") == 0;
    if (hexadecimal) at += 2;
    const auto belongs = [&](unsigned char c) {
      return hexadecimal ? std::isxdigit(c) != 0 : std::isdigit(c) != 0;
    };
    while (at < line.size() && belongs(static_cast<unsigned char>(line[at]))) ++at;
  }
  return kind;
}

}  // namespace

void add_ucx_warning(Json& ucx, int rank, const std::string& line) {
  auto& warnings = ucx["warnings"];
  const auto text = on_one_line(line.substr(0, longest_warning));
  const auto kind = without_numbers(text);
  const auto known = std::ranges::find_if(warnings, [&](const Json& warning) {
    return without_numbers(warning.at("line").get<std::string>()) == kind;
  });
  if (known == warnings.end()) {
    if (warnings.size() >= most_kinds_of_warning) return;
    warnings.push_back({{"line", text}, {"count", 1}, {"ranks", {rank}}});
    return;
  }
  (*known)["count"] = known->at("count").get<std::uint64_t>() + 1;
  auto& ranks = (*known)["ranks"];
  if (std::ranges::find(ranks, Json(rank)) != ranks.end()) return;
  ranks.push_back(rank);
  std::sort(ranks.begin(), ranks.end());
}

std::map<std::string, std::string> ucx_warnings_of(const Json& ucx) {
  std::map<std::string, std::string> lines;
  const auto found = ucx.find("warnings");
  if (found == ucx.end() || !found->is_array()) return lines;
  for (const auto& warning : *found) {
    const auto line = text_at(warning, "/line", "");
    if (!line.empty()) lines.emplace(without_numbers(line), line);
  }
  return lines;
}

void add_error_counters(Json& machine, const Json& report) {
  auto& counters = machine["error_counters"];
  for (const auto& moved : report.at("moved")) {
    const auto known = std::ranges::find_if(counters, [&](const Json& counter) {
      return counter.at("name") == moved.at("name") && counter.at("host") == report.at("host") &&
             counter.at("network_namespace") == report.at("network_namespace");
    });
    if (known == counters.end()) {
      Json added = {{"host", report.at("host")},
                    {"network_namespace", report.at("network_namespace")}};
      added.update(moved);
      counters.push_back(std::move(added));
      continue;
    }
    (*known)["before"] = std::min(known->at("before"), moved.at("before"));
    (*known)["after"] = std::max(known->at("after"), moved.at("after"));
  }
}

}  // namespace ucxbench
