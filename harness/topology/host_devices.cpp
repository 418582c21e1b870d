#include "harness/topology/host_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "harness/core/files.hpp"

namespace ucxbench {
namespace {

namespace fs = std::filesystem;

/// "15b3" of "0x15b3".
std::string without_0x(const std::string& number) {
  return number.starts_with("0x") ? number.substr(2) : number;
}

/// "15b3:1021"; empty of what is not on PCI.
std::string pci_model(const fs::path& device) {
  const auto vendor = without_0x(first_line(device / "vendor"));
  const auto model = without_0x(first_line(device / "device"));
  return vendor.empty() || model.empty() ? "" : fmt::format("{}:{}", vendor, model);
}

Json sorted(std::vector<std::string> models) {
  std::ranges::sort(models);
  return models;
}

}  // namespace

Json gpu_models(const fs::path& root) {
  constexpr std::string_view name = "Model:";
  std::vector<std::string> models;
  const auto gpus = root / "proc/driver/nvidia/gpus";
  for (const auto& gpu : entries_of(gpus)) {
    std::ifstream lines(gpus / gpu / "information");
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with(name)) continue;
      const auto begin = line.find_first_not_of(" \t", name.size());
      if (begin != std::string::npos) models.push_back(line.substr(begin));
    }
  }
  return sorted(std::move(models));
}

Json nic_models(const fs::path& root) {
  std::vector<std::string> models;
  std::set<fs::path> with_rdma;
  std::error_code ignored;
  const auto adapters = root / "sys/class/infiniband";
  for (const auto& name : entries_of(adapters)) {
    const auto adapter = adapters / name;
    const auto type = first_line(adapter / "hca_type");
    const auto model = type.empty() ? pci_model(adapter / "device") : type;
    if (model.empty()) continue;  // made of another device, as soft-RoCE is
    if (!fs::exists(adapter / "device", ignored)) continue;
    with_rdma.insert(fs::canonical(adapter / "device", ignored));
    models.push_back(model);
  }
  const auto networks = root / "sys/class/net";
  for (const auto& name : entries_of(networks)) {
    const auto device = networks / name / "device";
    const auto model = pci_model(device);
    if (model.empty() || with_rdma.contains(fs::canonical(device, ignored))) continue;
    models.push_back(model);
  }
  return sorted(std::move(models));
}

}  // namespace ucxbench
