#include "harness/result/append.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "harness/core/failure.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/paths.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

[[noreturn]] void refuse_part(const std::string& why) {
  throw Failure(Exit::usage,
                "these launches are not of one run: " + why + "; measure all of them anew");
}

void check_same(const char* what, const Json& known, const Json& added) {
  if (known != added) refuse_part(fmt::format("{} {} -> {}", what, known.dump(), added.dump()));
}

Json member(const Json& object, const char* name) { return object.value(name, Json()); }

// Without the canaries: a part that ended early may have none.
std::set<std::string> keys_of(const Result& run) {
  std::set<std::string> keys;
  for (const auto& of : run.cases) {
    if (!is_canary(of)) keys.insert(of.key);
  }
  return keys;
}

// A part may leave out what needs no more launches.
void check_known_cases(const Result& run, const Result& more) {
  const auto keys = keys_of(run);
  const auto others = keys_of(more);
  std::vector<std::string> apart;
  std::ranges::set_difference(others, keys, std::back_inserter(apart));
  if (apart.empty()) return;
  refuse_part(
      fmt::format("case {} is only in some{}", apart.front(),
                  apart.size() > 1 ? fmt::format(", as are {} more", apart.size() - 1) : ""));
}

void check_new_launches(const Case& of, const Case& more) {
  for (const auto& record : more.launches) {
    const bool there =
        std::ranges::find(of.launches, record.launch, &LaunchRecord::launch) != of.launches.end();
    if (there) refuse_part(fmt::format("{} has launch {} twice", of.key, record.launch));
  }
}

// nullptr for a canary that is not there yet.
Case* same_case(Result& run, const Case& of) {
  const auto found = std::ranges::find(run.cases, of.key, &Case::key);
  return found == run.cases.end() ? nullptr : &*found;
}

// What failed once has failed; what was measured once is no longer skipped.
void take_state(Case& of, const Case& more) {
  const bool counts = more.state == CaseState::failed ||
                      (more.state == CaseState::measured && of.state != CaseState::failed);
  if (!counts || of.state == more.state) return;
  of.state = more.state;
  of.skip_cause = more.skip_cause;
  of.reason = more.reason;
}

void append_case(Case& of, const Case& more) {
  take_state(of, more);
  std::ranges::copy(more.launches, std::back_inserter(of.launches));
  of.verified.checked += more.verified.checked;
  of.verified.errors += more.verified.errors;
  of.peak_buffer_bytes = std::max(of.peak_buffer_bytes, more.peak_buffer_bytes);
  for (const auto& label : more.labels) add_once(of.labels, label);
  if (of.launches.empty()) return;
  summarize(of);
  sum_paths(of);
}

}  // namespace

void append_launches(Result& run, const Result& more) {
  check_same("machine", member(run.machine, "id"), member(more.machine, "id"));
  check_same("topology", member(run.machine, "topology_hash"),
             member(more.machine, "topology_hash"));
  check_same("commit", member(run.build, "commit"), member(more.build, "commit"));
  check_same("flags", member(run.build, "flags"), member(more.build, "flags"));
  check_same("UCX", member(run.ucx, "version"), member(more.ucx, "version"));
  check_same("library", member(run.ucx, "library"), member(more.ucx, "library"));
  check_known_cases(run, more);
  for (const auto& added : more.cases) {
    if (const auto* of = same_case(run, added)) check_new_launches(*of, added);
  }
  for (const auto& added : more.cases) {
    if (auto* of = same_case(run, added)) {
      append_case(*of, added);
    } else {
      run.cases.push_back(added);
    }
  }
  for (const auto* field : {"finished_utc", "state", "reason"}) {
    run.run[field] = member(more.run, field);
  }
  run.run.erase("transfers");
  if (run.ranks.empty()) run.ranks = more.ranks;
  const Json::json_pointer effective("/environment/effective");
  if (!more.ucx.contains(effective)) return;
  for (const auto& [group, settings] : more.ucx.at(effective).items()) {
    auto& known = run.ucx["environment"]["effective"];
    if (!known.contains(group)) known[group] = settings;
  }
}

}  // namespace ucxbench
