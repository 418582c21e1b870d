#include "harness/analysis/comparison/set_up.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "harness/analysis/asked.hpp"
#include "harness/analysis/comparison/same_ranks.hpp"
#include "harness/analysis/comparison/shapes.hpp"
#include "harness/core/text.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

// Another release of UCX has other values of many settings.
constexpr std::size_t most_of_a_kind = 6;

// One kind of difference, and how often it is there.
using Counted = std::map<std::string, std::size_t>;

std::string changed(const std::string& what, const std::string& base, const std::string& now) {
  const auto shown = [](const std::string& text) { return text.empty() ? "none" : text; };
  return fmt::format("{} {} -> {}", what, shown(base), shown(now));
}

std::string joined(const Json& value) { return join(texts_of(value), "+"); }

// Collects differences, and what they are about, so that nothing is said twice.
class SaidOnce {
 public:
  bool is_said(const std::string& what) const { return said_.contains(what); }
  void say(const std::string& what) { said_.insert(what); }
  void add(std::string text) { all_.push_back(std::move(text)); }

  // Those of all things of a kind without their number.
  void add(const Counted& changes, std::size_t of_all, const char* things) {
    std::size_t left = changes.size();
    for (const auto& [text, count] : changes) {
      if (changes.size() - left == most_of_a_kind) break;
      add(count == of_all ? text : fmt::format("{} ({} of {} {})", text, count, of_all, things));
      --left;
    }
    if (left > 0) add(fmt::format("{} more differ in what they were given", left));
  }

  std::vector<std::string> take() { return std::move(all_); }

 private:
  std::vector<std::string> all_;
  std::set<std::string> said_;
};

// "--net-devices" is the parameter "net_devices".
std::string parameter_of(const std::string& option) {
  auto name = option.substr(std::min(option.find_first_not_of('-'), option.size()));
  std::ranges::replace(name, '-', '_');
  return name;
}

void add_options(SaidOnce& all, const Result& base, const Result& now) {
  if (command_of(base) != command_of(now)) return;
  const auto before = asked_options(base);
  const auto after = asked_options(now);
  std::set<std::string> names;
  for (const auto* side : {&before, &after}) {
    for (const auto& [name, value] : *side) names.insert(name);
  }
  for (const auto& name : names) {
    const auto of = [&](const std::map<std::string, std::string>& side) {
      const auto found = side.find(name);
      return found == side.end() ? std::string("not given") : found->second;
    };
    if (of(before) == of(after)) continue;
    all.add(changed(name, of(before), of(after)));
    all.say(parameter_of(name));
    if (name != "--ucx") continue;
    for (const auto& side : {of(before), of(after)}) {
      for (const auto setting : split_text(side, ',')) {
        all.say(std::string(setting.substr(0, setting.find('='))));
      }
    }
  }
}

void add_parameters(SaidOnce& all, const Result& base, const Result& now) {
  Counted changes;
  std::set<std::string> names;
  std::size_t both = 0;
  for (const auto& of : now.cases) {
    const auto* before = find_case(base, of.key);
    if (before == nullptr) continue;
    ++both;
    for (const auto& [name, value] : of.parameters.items()) {
      const auto other = before->parameters.find(name);
      if (other == before->parameters.end() || *other == value || all.is_said(name)) continue;
      ++changes[changed(name, joined(*other), joined(value))];
      names.insert(name);
    }
  }
  all.add(changes, both, "cases");
  for (const auto& name : names) all.say(name);
}

std::string cpu_list_of(const Json& rank) {
  const auto cpus = rank.find("cpus");
  if (cpus == rank.end() || !cpus->is_array()) return "";
  return join(texts_of(*cpus), ",");
}

// By the ranks' numbers.
std::map<int, const Json*> ranks_by_number(const Result& result) {
  std::map<int, const Json*> ranks;
  for (const auto& rank : result.ranks) {
    if (const auto number = number_at(rank, "rank")) ranks[static_cast<int>(*number)] = &rank;
  }
  return ranks;
}

// Hosts may come in another order, and with them the ranks' numbers.
void add_ranks(SaidOnce& all, const Result& base, const Result& now) {
  Counted devices;
  std::vector<std::string> moved;
  std::size_t both = 0;
  const auto listed = [](const Json& ranks) {
    return std::vector<Json>(ranks.begin(), ranks.end());
  };
  const auto same = match_ranks(listed(base.ranks), listed(now.ranks));
  const auto before = ranks_by_number(base);
  for (const auto& [number, rank] : ranks_by_number(now)) {
    const auto in_base = same.in_base({number, number});
    const auto found = in_base ? before.find(in_base->first) : before.end();
    if (found == before.end()) continue;
    ++both;
    const auto& other = *found->second;
    if (other.contains("net_devices") && rank->contains("net_devices")) {
      const auto one = joined(other.at("net_devices"));
      const auto two = joined(rank->at("net_devices"));
      if (one != two && !all.is_said("net_devices")) {
        ++devices[changed("net_devices", one, two)];
      }
    }
    const auto one = cpu_list_of(other);
    const auto two = cpu_list_of(*rank);
    if (!one.empty() && !two.empty() && one != two) {
      const auto known_as =
          found->first == number ? "" : fmt::format(" ({} in the base run)", found->first);
      moved.push_back(changed(fmt::format("CPUs of rank {}{}", number, known_as), one, two));
    }
  }
  all.add(devices, both, "ranks");
  constexpr std::size_t most_ranks = 2;
  for (std::size_t at = 0; at < std::min(most_ranks, moved.size()); ++at) all.add(moved[at]);
  if (moved.size() > most_ranks) {
    all.add(fmt::format("CPUs of {} more", counted(moved.size() - most_ranks, "rank")));
  }
  if (!devices.empty()) all.say("net_devices");
}

void add_effective(SaidOnce& all, const Result& base, const Result& now) {
  const Json::json_pointer place("/environment/effective");
  if (!base.ucx.contains(place) || !now.ucx.contains(place)) return;
  // The release is said, and with it what it has otherwise.
  if (text_at(base.ucx, "/version") != text_at(now.ucx, "/version")) return;
  Counted changes;
  std::size_t both = 0;
  for (const auto& [set, settings] : now.ucx.at(place).items()) {
    const auto before = base.ucx.at(place).find(set);
    if (before == base.ucx.at(place).end() || !before->is_object() || !settings.is_object()) {
      continue;
    }
    ++both;
    for (const auto& [name, value] : settings.items()) {
      const auto other = before->find(name);
      if (other == before->end() || *other == value || all.is_said(name)) continue;
      if (name == "UCX_NET_DEVICES" && all.is_said("net_devices")) continue;
      ++changes[changed(name, joined(*other), joined(value))];
    }
  }
  all.add(changes, both, "transport sets");
}

}  // namespace

std::vector<std::string> set_up_differences(const Result& base, const Result& now) {
  SaidOnce all;
  for (const auto* run : {&base, &now}) {
    // Said as variables of the environment (environments.cpp).
    for (const auto* variables : {"/environment/inherited", "/ab/environment"}) {
      const Json::json_pointer place(variables);
      const auto& whole = std::string_view(variables).starts_with("/ab") ? run->run : run->ucx;
      const auto found = whole.contains(place) ? whole.at(place) : Json::object();
      for (const auto& [name, value] : found.items()) all.say(name);
    }
  }
  add_options(all, base, now);
  add_parameters(all, base, now);
  add_ranks(all, base, now);
  add_effective(all, base, now);
  return all.take();
}

}  // namespace ucxbench
