#include "harness/result/ucx_of_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/core/units.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t most_named = 4;

std::string names_in_words(std::vector<std::string> names) {
  const auto more = names.size() > most_named ? names.size() - most_named : 0;
  names.resize(names.size() - more);
  for (auto& name : names) name = on_one_line(name);
  return join(names, ", ") + (more == 0 ? "" : fmt::format(" and {} more", more));
}

/// Of another release, it has others anyway.
std::map<std::string, std::set<std::string>> components_by_host(const Result& result) {
  std::map<std::string, std::set<std::string>> components;
  const auto version = text_at(result.ucx, "/version");
  for (const auto& host : result.machine.value("hosts", Json::array())) {
    const auto ucx = host.is_object() ? host.value("ucx", result.ucx) : Json();
    if (!ucx.is_object() || !ucx.contains("components") || text_at(ucx, "/version") != version) {
      continue;
    }
    const auto names = texts_of(ucx.at("components"));
    components[text_at(host, "/name")].insert(names.begin(), names.end());
  }
  return components;
}

/// "without cma on node1".
std::vector<std::string> missing_components(const Result& result) {
  const auto components = components_by_host(result);
  std::set<std::string> all;
  for (const auto& [host, names] : components) all.insert(names.begin(), names.end());
  std::map<std::string, std::vector<std::string>> hosts_by_missing;
  for (const auto& [host, names] : components) {
    std::vector<std::string> missing;
    std::ranges::set_difference(all, names, std::back_inserter(missing));
    if (!missing.empty()) hosts_by_missing[join(missing, ", ")].push_back(host);
  }
  std::vector<std::string> parts;
  for (const auto& [missing, hosts] : hosts_by_missing) {
    parts.push_back(fmt::format("without {} on {}", on_one_line(missing), names_in_words(hosts)));
  }
  return parts;
}

}  // namespace

std::string several_versions(const Json& ucx) {
  const auto versions = ucx.find("versions");
  if (versions == ucx.end() || !versions->is_array()) return "";
  std::vector<std::string> parts;
  for (const auto& of : *versions) {
    const auto ranks = of.at("ranks").get<std::vector<int>>();
    parts.push_back(fmt::format("{} ({} {} on {})", on_one_line(text_at(of, "/version")),
                                ranks.size() == 1 ? "rank" : "ranks", format_list(ranks),
                                names_in_words(texts_of(of.at("hosts")))));
  }
  return join(parts, ", ");
}

std::string differing_ucx(const Result& result) {
  std::vector<std::string> parts = {several_versions(result.ucx)};
  const auto missing = missing_components(result);
  if (parts.front().empty()) {
    if (missing.empty()) return "";
    parts.front() = text_at(result.ucx, "/version");
  }
  parts.insert(parts.end(), missing.begin(), missing.end());
  return join(parts, ", ");
}

std::string ucx_in_words(const Result& result) {
  const auto differing = differing_ucx(result);
  return differing.empty() ? text_at(result.ucx, "/version") : differing;
}

}  // namespace ucxbench
