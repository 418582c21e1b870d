#include "bench/cli/options/results_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <span>

#include "harness/core/hash.hpp"
#include "harness/result/file.hpp"
#include "harness/result/words.hpp"
#include "harness/run/provenance.hpp"

namespace ucxbench {
namespace {

// Other in every run: of a host's description, and of a link.
constexpr const char* passing[] = {"load_1min", "shm_free_bytes", "memory_copy"};
constexpr const char* calibrated[] = {"calibrated_GBps", "calibrated_by"};

void drop(Json& object, std::span<const char* const> keys) {
  for (const auto* key : keys) object.erase(key);
}

void keep(const std::filesystem::path& folder, const std::string& kind, const std::string& hash,
          const Json& content) {
  const auto file = folder / fmt::format("{}-{}.json", kind, hash);
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) return;
  Json json = {{"schema", fmt::format("ucx-bench/{}/1", kind)}};
  json.update(content);
  write_atomically(file, to_text(json), NamedBy::program);
}

}  // namespace

std::string run_file_name(const std::string& command) {
  auto stamp = utc_now();
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
  // Containers that share a folder may have the same process numbers.
  return fmt::format("{}-{}-{:08x}.json", stamp, command, std::random_device{}());
}

std::filesystem::path new_run_in_tree(const std::filesystem::path& folder, const std::string& id,
                                      const std::string& command) {
  const auto month = utc_now().substr(0, std::string_view("2026-11").size());
  const auto place = folder / id / month;
  std::error_code ignored;  // write_atomically says what is wrong with the folder
  std::filesystem::create_directories(place, ignored);
  return place / run_file_name(command);
}

void keep_facts(const std::filesystem::path& folder, const Result& result) {
  const auto id = text_at(result.machine, "/id", "");
  if (id.empty()) return;
  Json hosts = result.machine.value("hosts", Json::array());
  for (auto& host : hosts) drop(host, passing);
  const auto hash = fmt::format("{:016x}", fnv1a(hosts.dump()));
  keep(folder / id, "machine", hash, {{"hash", hash}, {"id", id}, {"hosts", hosts}});
  const auto wiring = text_at(result.machine, "/topology_hash", "");
  if (wiring.empty()) return;
  auto topology = result.topology;
  for (auto& link : topology["links"]) drop(link, calibrated);
  keep(folder / id, "topology", wiring, topology);
}

}  // namespace ucxbench
