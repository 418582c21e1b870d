#include "harness/run/provenance.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <random>

#include "harness/core/build_info.hpp"
#include "harness/core/or_null.hpp"
#include "harness/core/secret.hpp"
#include "harness/topology/cpus.hpp"
#include "harness/transports/transport_set.hpp"

namespace ucxbench {
namespace {

// By which programs load or do something else, beside UCX_*, which have a place of their own.
constexpr std::array telling = {"LD_",   "GLIBC_", "MALLOC_", "CUDA_", "NVIDIA_", "OMP_",
                                "GOMP_", "KMP_",   "RDMAV_",  "IBV_",  "MLX4_",   "MLX5_"};

// By which a launcher gives devices to a process.
constexpr std::array device_variables = {"CUDA_VISIBLE_DEVICES",   "GPU_DEVICE_ORDINAL",
                                         "NVIDIA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
                                         "SLURM_STEP_GPUS",        "ZE_AFFINITY_MASK"};

Json telling_variables() {
  auto found = Json::object();
  for (const auto& [name, value] : without_secrets(current_environment())) {
    const auto begins = [&variable = name](const char* prefix) {
      return variable.starts_with(prefix);
    };
    if (std::ranges::any_of(telling, begins)) found[name] = value;
  }
  return found;
}

bool is_true(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && *found == true;
}

}  // namespace

std::string utc_now() {
  return fmt::format(
      "{:%Y-%m-%dT%H:%M:%SZ}",
      fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

Json describe_launcher() {
  const auto is_set = [](const char* name) { return !environment_variable(name).empty(); };
  std::string name;
  if (is_set("PMIX_RANK")) name = "PMIx";
  if (is_set("OMPI_COMM_WORLD_SIZE")) name = "Open MPI";
  if (is_set("SLURM_STEP_ID") && is_set("SLURM_PROCID")) name = "Slurm";
  if (name.empty()) return nullptr;
  auto devices = Json::object();
  for (const auto* variable : device_variables) {
    if (is_set(variable)) devices[variable] = environment_variable(variable);
  }
  auto cpus = allowed_cpus();
  std::ranges::sort(cpus);
  return {{"name", name}, {"processes", Json::array({{{"cpus", cpus}, {"devices", devices}}})}};
}

std::vector<std::string> labels_of_host(const Json& facts) {
  std::vector<std::string> labels;
  if (is_true(facts, "virtual_machine")) labels.emplace_back("vm");
  if (is_true(facts, "emulated_cpu")) labels.emplace_back("emulated-cpu");
  return labels;
}

Result describe_run(const std::vector<std::string>& command, const Variables& tags,
                    const Probe& found, const std::vector<UcxConf>& configuration_files) {
  const auto& ucx = found.ucx;
  Result result;
  const auto now = utc_now();
  std::random_device random;
  result.run = {{"id", fmt::format("{}-{:08x}", now, random())},
                {"started_utc", now},
                {"finished_utc", nullptr},
                {"command", command},
                {"state", "interrupted"},  // until it is known to be complete
                {"reason", ""},
                {"tags", without_secrets(tags)},
                {"variables", telling_variables()}};

  const auto& build = build_info();
  result.build = {{"version", build.version}, {"commit", build.commit},
                  {"dirty", build.dirty},     {"compiler", build.compiler},
                  {"flags", build.flags},     {"build_type", build.build_type}};

  const auto host = describe_host();
  result.machine = {{"id", machine_id(host)},
                    {"hosts", Json::array({host})},
                    {"labels", Json::array()},
                    {"topology_hash", nullptr}};
  result.machine["labels"] = labels_of_host(host);

  Json files = Json::array();
  for (const auto& file : configuration_files) {
    files.push_back({{"path", file.path.string()}, {"settings", without_secrets(file.settings)}});
  }
  Json resources = Json::array();
  for (const auto& resource : ucx.resources) {
    resources.push_back(in_words(resource));
  }
  Json usable = Json::object();
  for (const auto& known : transports()) {
    auto why = why_not_here(known.name, found);
    if (!why.empty()) why = fmt::format("{}: {}", known.name, why);
    usable[std::string(known.name)] = text_or_null(why);
  }
  result.ucx = {{"version", ucx.version},
                {"headers", ucx.headers},
                {"library", ucx.library},
                {"components", ucx.components},
                {"resources", resources},
                {"transports", usable},
                {"configuration_files", files},
                {"environment",
                 {{"asked", Json::object()},
                  {"inherited", Json::object()},
                  {"replaced", Json::object()},
                  {"effective", Json::object()}}}};
  if (found.topology.is_object()) {
    result.topology = found.topology;
    result.machine["topology_hash"] = found.topology.at("hash");
  } else {
    result.topology = {
        {"devices", Json::array()}, {"links", Json::array()}, {"pairs", Json::array()}};
  }
  return result;
}

}  // namespace ucxbench
