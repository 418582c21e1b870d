#include "harness/analysis/comparison/environments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "harness/analysis/comparison/set_up.hpp"
#include "harness/result/trouble.hpp"
#include "harness/result/ucx_of_ranks.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr const char* not_known = "?";

std::string named(const Json& json, const std::string& name) {
  return text_at(json, "/" + name, not_known);
}

std::string ucx_of(const Result& result) {
  const auto differing = differing_ucx(result);
  return differing.empty() ? named(result.ucx, "version") : differing;
}

std::string of_host(const Result& result, const std::string& name) {
  return text_at(result.machine, "/hosts/0/" + name, not_known);
}

std::string names_of_hosts(const Result& result) {
  std::vector<std::string> names;
  for (const auto& host : result.machine.value("hosts", Json::array())) {
    names.push_back(text_at(host, "/name", not_known));
  }
  if (names.empty()) return not_known;
  const auto all = join(names, ", ");
  return names.size() == 1 ? all : fmt::format("{} ({} hosts)", all, names.size());
}

// Of the first rank with a GPU.
std::string of_device(const Result& result, const std::string& name) {
  for (const auto& rank : result.ranks) {
    const auto value = text_at(rank, "/device/" + name, not_known);
    if (value != not_known) return value;
  }
  return not_known;
}

// "1.13.1" → "1.13" for two parts.
std::string first_parts(const std::string& version, int parts) {
  std::size_t end = 0;
  for (; parts > 0 && end != std::string::npos; --parts) end = version.find('.', end + 1);
  return version.substr(0, end);
}

/// "1.13", or "1.13+1.22" of ranks that have several.
std::string deciding_ucx(const Result& result) {
  std::vector<std::string> versions;
  for (const auto& of : result.ucx.value("versions", Json::array())) {
    versions.push_back(first_parts(named(of, "version"), 2));
  }
  return versions.empty() ? first_parts(named(result.ucx, "version"), 2) : join(versions, "+");
}

using Notes = std::vector<std::string>;

void note(Notes& notes, std::string_view what, const std::string& base, const std::string& now) {
  if (base != now) notes.push_back(fmt::format("{} {} -> {}", what, base, now));
}

void note_known(Notes& notes, std::string_view what, const std::string& base,
                const std::string& now) {
  if (base != not_known && now != not_known) note(notes, what, base, now);
}

// Members of objects of words, of which a run of an older version has none.
void note_members(Notes& notes, const Json& base, const Json& now, const std::string& otherwise) {
  if (!base.is_object() || !now.is_object()) return;
  std::set<std::string> names;
  for (const auto* side : {&base, &now}) {
    for (const auto& [name, value] : side->items()) names.insert(name);
  }
  for (const auto& name : names) {
    const auto of = [&](const Json& side) {
      return side.contains(name) ? join(texts_of(side.at(name)), "+") : otherwise;
    };
    note(notes, name, of(base), of(now));
  }
}

// Another release has many at once: they are one line then.
void note_libraries(Notes& notes, const Json& base, const Json& now) {
  constexpr std::size_t most_named = 4;
  Notes all;
  note_members(all, base, now, "not loaded");
  if (all.size() <= most_named) {
    for (const auto& library : all) notes.push_back("library " + library);
    return;
  }
  const auto count = all.size();
  for (auto& library : all) library.resize(library.find(' '));
  all.resize(most_named);
  notes.push_back(
      fmt::format("libraries {} and {} more differ", join(all, ", "), count - most_named));
}

Json at_or_null(const Json& json, const char* path) {
  const Json::json_pointer place(path);
  return json.contains(place) ? json.at(place) : Json();
}

// UCX's, what `ab` was asked to add, and where `others` those by which programs behave otherwise.
Json variables_of(const Result& result, bool others) {
  auto all = others ? at_or_null(result.run, "/variables") : Json::object();
  for (const auto& more : {at_or_null(result.run, "/ab/environment"),
                           at_or_null(result.ucx, "/environment/inherited")}) {
    if (more.is_object()) all.update(more);
  }
  return all;
}

// Beside the kernel's version.
constexpr std::array host_facts = {
    "governor",       "transparent_huge_pages", "turbo",     "smt",
    "numa_balancing", "ptrace_scope",           "cpu_quota", "cma_error"};

Notes host_differences(const Json& base, const Json& now) {
  Notes all;
  note(all, "kernel", named(base, "kernel"), named(now, "kernel"));
  for (const auto* fact : host_facts) note_known(all, fact, named(base, fact), named(now, fact));
  note_members(all, at_or_null(base, "/kernel_settings"), at_or_null(now, "/kernel_settings"),
               "not there");
  // Of the first host the run has it.
  note_known(all, "UCX", named(base, "ucx/version"), named(now, "ucx/version"));
  return all;
}

/// The one of that name, else the one in that place.
const Json& counterpart(const Json::array_t& hosts, const Json& of, std::size_t place) {
  const auto same = std::ranges::find_if(
      hosts, [&](const Json& host) { return named(host, "name") == named(of, "name"); });
  return same == hosts.end() ? hosts[place] : *same;
}

// What all hosts have alike is said once.
void note_hosts(Notes& notes, const Result& base, const Result& now) {
  const auto before = base.machine.value("hosts", Json::array_t());
  const auto after = now.machine.value("hosts", Json::array_t());
  const auto count = std::min(before.size(), after.size());
  std::vector<std::pair<std::string, Notes>> hosts_by_note;
  for (std::size_t place = 0; place < count; ++place) {
    const auto& host = after[place];
    for (auto& difference : host_differences(counterpart(before, host, place), host)) {
      auto known =
          std::ranges::find(hosts_by_note, difference, &std::pair<std::string, Notes>::first);
      if (known == hosts_by_note.end()) {
        known = hosts_by_note.insert(known, std::pair(std::move(difference), Notes()));
      }
      known->second.push_back(named(host, "name"));
    }
  }
  for (const auto& [difference, hosts] : hosts_by_note) {
    notes.push_back(hosts.size() == count ? difference
                                          : fmt::format("{}: {}", join(hosts, ", "), difference));
  }
}

// What it warned of in UCX's own words: that it does not use a variable, for example.
void note_warnings(Notes& notes, const Result& base, const Result& now) {
  for (const auto& [name, run] : {std::pair{"base", &base}, std::pair{"new", &now}}) {
    const auto unused = texts_of(at_or_null(run->run, "/ab/unused"));
    if (!unused.empty())
      notes.push_back(fmt::format("UCX uses in {} none of {}", name, join(unused, ", ")));
  }
  std::map<std::string, Notes> said;
  const auto of_base = ucx_warnings_of(base.ucx), of_new = ucx_warnings_of(now.ucx);
  for (const auto& [kind, line] : of_base) {
    said[of_new.contains(kind) ? "on both sides" : "in base alone"].push_back(line);
  }
  for (const auto& [kind, line] : of_new) {
    if (!of_base.contains(kind)) said["in new alone"].push_back(line);
  }
  constexpr std::size_t most_named = 3;
  for (const auto& [where, lines] : said) {
    for (std::size_t at = 0; at < std::min(most_named, lines.size()); ++at) {
      notes.push_back(fmt::format("UCX says {}: {}", where, lines[at]));
    }
    if (lines.size() > most_named) {
      notes.push_back(fmt::format("UCX says {}: {} more, in the run file", where,
                                  counted(lines.size() - most_named, "line")));
    }
  }
}

}  // namespace

std::vector<std::string> environment_differences(const Result& base, const Result& now) {
  Notes all;
  note(all, "UCX", ucx_of(base), ucx_of(now));
  note(all, "library", named(base.ucx, "library"), named(now.ucx, "library"));
  note(all, "driver", of_device(base, "driver"), of_device(now, "driver"));
  note(all, "CUDA", of_device(base, "cuda"), of_device(now, "cuda"));
  note(all, "host", names_of_hosts(base), names_of_hosts(now));
  note(all, "topology", named(base.machine, "topology_hash"), named(now.machine, "topology_hash"));
  note_hosts(all, base, now);
  note_libraries(all, at_or_null(base.ucx, "/libraries"), at_or_null(now.ucx, "/libraries"));
  const bool others = base.run.contains("variables") && now.run.contains("variables");
  note_members(all, variables_of(base, others), variables_of(now, others), "not set");
  for (auto& difference : set_up_differences(base, now)) all.push_back(std::move(difference));
  return all;
}

std::vector<std::string> differences_of(const Result& base, const Result& now) {
  Notes all;
  note(all, "commit", named(base.build, "commit").substr(0, 12),
       named(now.build, "commit").substr(0, 12));
  note(all, "compiler", named(base.build, "compiler"), named(now.build, "compiler"));
  note(all, "flags", named(base.build, "flags"), named(now.build, "flags"));
  for (auto& difference : environment_differences(base, now)) all.push_back(std::move(difference));
  note_warnings(all, base, now);
  return all;
}

std::string environment_in_words(const Result& result) {
  return fmt::format("UCX {}, driver {}, CUDA {}, kernel {}, host {}, topology {}", ucx_of(result),
                     of_device(result, "driver"), of_device(result, "cuda"),
                     of_host(result, "kernel"), of_host(result, "name"),
                     named(result.machine, "topology_hash"));
}

DecidingEnvironment deciding_environment(const Result& result) {
  const auto known = [](const std::string& text) { return text == not_known ? "" : text; };
  return {.ucx = known(deciding_ucx(result)),
          .driver = known(first_parts(of_device(result, "driver"), 1)),
          .topology = known(named(result.machine, "topology_hash"))};
}

std::vector<std::string> deciding_differences(const DecidingEnvironment& base,
                                              const DecidingEnvironment& now) {
  Notes all;
  const auto note_both = [&](std::string_view what, const std::string& before,
                             const std::string& after) {
    if (!before.empty() && !after.empty()) note(all, what, before, after);
  };
  note_both("UCX", base.ucx, now.ucx);
  note_both("driver", base.driver, now.driver);
  note_both("topology", base.topology, now.topology);
  return all;
}

std::string machine_of(const Result& result) { return named(result.machine, "id"); }

}  // namespace ucxbench
