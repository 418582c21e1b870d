#include "harness/analysis/environments.hpp"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr const char* not_known = "?";

std::string named(const Json& json, const std::string& name) {
  return text_at(json, "/" + name, not_known);
}

std::string kernel_of(const Result& result) {
  return text_at(result.machine, "/hosts/0/kernel", not_known);
}

// Of the first rank with a GPU.
std::string driver_of(const Result& result) {
  for (const auto& rank : result.ranks) {
    const auto driver = text_at(rank, "/device/driver", not_known);
    if (driver != not_known) return driver;
  }
  return not_known;
}

std::map<std::string, std::string> settings_of_run(const Result& result) {
  std::map<std::string, std::string> settings;
  const Json::json_pointer place("/environment/inherited");
  if (!result.ucx.contains(place)) return settings;
  for (const auto& [key, value] : result.ucx.at(place).items()) {
    if (value.is_string()) settings[key] = value.get<std::string>();
  }
  return settings;
}

// "1.13.1" → "1.13" for two parts.
std::string first_parts(const std::string& version, int parts) {
  std::size_t end = 0;
  for (; parts > 0 && end != std::string::npos; --parts) end = version.find('.', end + 1);
  return version.substr(0, end);
}

using Notes = std::vector<std::string>;

void note(Notes& notes, std::string_view what, const std::string& one, const std::string& other) {
  if (one != other) notes.push_back(fmt::format("{} {} -> {}", what, one, other));
}

void note_known(Notes& notes, std::string_view what, const std::string& one,
                const std::string& other) {
  if (one != not_known && other != not_known) note(notes, what, one, other);
}

}  // namespace

std::vector<std::string> differences_of(const Result& base, const Result& now) {
  Notes all;
  note(all, "commit", named(base.build, "commit").substr(0, 12),
       named(now.build, "commit").substr(0, 12));
  note(all, "compiler", named(base.build, "compiler"), named(now.build, "compiler"));
  note(all, "flags", named(base.build, "flags"), named(now.build, "flags"));
  note(all, "UCX", named(base.ucx, "version"), named(now.ucx, "version"));
  note(all, "library", named(base.ucx, "library"), named(now.ucx, "library"));
  note(all, "driver", driver_of(base), driver_of(now));
  note(all, "kernel", kernel_of(base), kernel_of(now));
  note(all, "topology", named(base.machine, "topology_hash"), named(now.machine, "topology_hash"));
  auto before = settings_of_run(base);
  auto after = settings_of_run(now);
  for (const auto& [key, value] : before) after.try_emplace(key, "not set");
  for (const auto& [key, value] : after) {
    note(all, key, before.try_emplace(key, "not set").first->second, value);
  }
  return all;
}

std::vector<std::string> deciding_differences(const Result& base, const Result& now) {
  Notes all;
  note_known(all, "UCX", first_parts(named(base.ucx, "version"), 2),
             first_parts(named(now.ucx, "version"), 2));
  note_known(all, "driver", first_parts(driver_of(base), 1), first_parts(driver_of(now), 1));
  note_known(all, "topology", named(base.machine, "topology_hash"),
             named(now.machine, "topology_hash"));
  return all;
}

std::string machine_of(const Result& result) { return named(result.machine, "id"); }

}  // namespace ucxbench
