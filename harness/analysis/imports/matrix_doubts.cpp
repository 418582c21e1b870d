#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "harness/analysis/imports/matrix_text.hpp"
#include "harness/core/units.hpp"
#include "harness/topology/cpu_mask.hpp"
#include "harness/topology/link_specifications.hpp"

namespace ucxbench {
namespace {

using DeviceNames = std::vector<std::string>;

template <typename Test>
DeviceNames names_where(const Matrix& matrix, Test test) {
  DeviceNames names;
  for (const auto& device : matrix.devices) {
    if (test(device)) names.push_back(device.name);
  }
  return names;
}

/// Where one of its kind has something, all have.
template <typename Kind, typename Has>
void doubt_lacking(const Matrix& matrix, Kind of_kind, Has has, std::string_view what,
                   DeviceNames& doubts) {
  const auto lacking =
      names_where(matrix, [&](const auto& device) { return of_kind(device) && !has(device); });
  const bool any = !names_where(matrix, [&](const auto& device) {
                      return of_kind(device) && has(device);
                    }).empty();
  if (any && !lacking.empty()) {
    doubts.push_back(fmt::format("{} {}, others have one", fmt::join(lacking, ", "), what));
  }
}

bool overlap(const std::vector<int>& a, const std::vector<int>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](int cpu) { return std::binary_search(b.begin(), b.end(), cpu); });
}

std::string row(const MatrixDevice& device) {
  return fmt::format("row {}, line {}", device.name, device.line);
}

/// What contradicts in the affinities of two devices; empty for nothing.
std::string contradiction(const MatrixDevice& a, const MatrixDevice& b,
                          const std::optional<PathClass>& path_class) {
  const bool same_node = a.numa_node && a.numa_node == b.numa_node;
  const bool other_node = a.numa_node && b.numa_node && a.numa_node != b.numa_node;
  if (a.cpus && b.cpus && a.cpus != b.cpus && (same_node || overlap(*a.cpus, *b.cpus))) {
    return fmt::format("CPUs {}, but {} has {}", format_list(*a.cpus), row(b),
                       format_list(*b.cpus));
  }
  if (other_node && a.cpus && a.cpus == b.cpus) {
    return fmt::format("NUMA node {}, but {} with the same CPUs has {}", *a.numa_node, row(b),
                       *b.numa_node);
  }
  const bool near =
      path_class && path_class->distance >= Distance::pix && path_class->distance <= Distance::node;
  if (near && other_node) {
    return fmt::format("NUMA node {}, but {}, which is {} to it, has {}", *a.numa_node, row(b),
                       to_string(*path_class), *b.numa_node);
  }
  return "";
}

/// Two names of the matrix for one device of the legend.
void doubt_legend(const Matrix& matrix, DeviceNames& doubts) {
  std::map<std::string, std::string> names;
  for (const auto& device : matrix.devices) {
    if (device.alias.empty()) continue;
    const auto [other, added] = names.emplace(device.alias, device.name);
    if (added) continue;
    doubts.push_back(fmt::format("{} is {} in the legend, as {} is: no two devices have one name",
                                 device.name, device.alias, other->second));
  }
}

/// Than the GPU's model has, or without one than any that is known. Other models make no claims.
void doubt_links(const Matrix& matrix, DeviceNames& doubts) {
  for (std::size_t gpu = 0; gpu < matrix.devices.size(); ++gpu) {
    const auto& device = matrix.devices[gpu];
    const auto* generation = nvlink_of_model(device.model);
    if (generation == nullptr && !device.model.empty()) continue;
    const int most = most_nvlinks(generation);
    const auto many = std::ranges::find_if(matrix.classes, [&](const auto& known) {
      const auto [a, b] = known.first;
      return (a == gpu || b == gpu) && known.second.nvlinks > most;
    });
    if (many == matrix.classes.end()) continue;
    doubts.push_back(fmt::format(
        "{}: {}, but {} at most {} NVLinks", row(device), to_string(many->second),
        device.model.empty() ? "GPUs that are known here have" : device.model + " has", most));
  }
}

/// Devices of one NUMA node, or nearer, by the classes; SYS is between two nodes.
class Nearness {
 public:
  explicit Nearness(const Matrix& matrix)
      : count_(matrix.devices.size()), distances_(count_ * count_, Distance::unknown) {
    for (const auto& [pair, path_class] : matrix.classes) {
      distances_[pair.first * count_ + pair.second] = path_class.distance;
      distances_[pair.second * count_ + pair.first] = path_class.distance;
    }
  }
  bool near(std::size_t a, std::size_t b) const {
    const auto distance = distances_[a * count_ + b];
    return distance >= Distance::pix && distance <= Distance::node;
  }
  /// A device that is near to b, but of another NUMA node than a, which is near to b, too.
  std::optional<std::size_t> between(std::size_t a, std::size_t b) const {
    for (std::size_t other = 0; other < count_; ++other) {
      if (near(b, other) && distances_[a * count_ + other] == Distance::sys) return other;
    }
    return std::nullopt;
  }

 private:
  std::size_t count_;
  std::vector<Distance> distances_;
};

/// Of each row the first.
void doubt_nodes(const Matrix& matrix, DeviceNames& doubts) {
  const Nearness nearness(matrix);
  const auto word = [&](std::size_t a, std::size_t b) {
    return to_string(matrix.classes.at(std::minmax(a, b)));
  };
  for (std::size_t a = 0; a < matrix.devices.size(); ++a) {
    for (std::size_t b = a + 1; b < matrix.devices.size(); ++b) {
      const auto other = nearness.near(a, b) ? nearness.between(a, b) : std::nullopt;
      if (!other) continue;
      doubts.push_back(fmt::format(
          "{}: {} to {} and SYS to {}, which are {} to each other: no machine is wired so",
          row(matrix.devices[a]), word(a, b), matrix.devices[b].name, matrix.devices[*other].name,
          word(b, *other)));
      break;
    }
  }
}

/// Of each row the first.
void doubt_affinities(const Matrix& matrix, DeviceNames& doubts) {
  for (std::size_t a = 0; a < matrix.devices.size(); ++a) {
    for (std::size_t b = a + 1; b < matrix.devices.size(); ++b) {
      const auto known = matrix.classes.find({a, b});
      const auto what = contradiction(
          matrix.devices[a], matrix.devices[b],
          known == matrix.classes.end() ? std::nullopt : std::optional(known->second));
      if (what.empty()) continue;
      doubts.push_back(
          fmt::format("{}: {}: no machine has such affinities", row(matrix.devices[a]), what));
      break;
    }
  }
}

}  // namespace

std::vector<std::string> doubts_of(const Matrix& matrix) {
  DeviceNames doubts;
  const auto missing = names_where(matrix, [](const auto& device) { return device.line == 0; });
  if (!missing.empty()) {
    doubts.push_back(fmt::format("no row of {}: only what other rows say is known of {}",
                                 fmt::join(missing, ", "), missing.size() == 1 ? "it" : "them"));
  }
  const auto is_gpu = [](const auto& device) { return device.is_gpu() && device.line != 0; };
  doubt_lacking(
      matrix, is_gpu, [](const auto& device) { return device.cpus.has_value(); },
      "has no CPU affinity", doubts);
  doubt_lacking(
      matrix, is_gpu, [](const auto& device) { return device.numa_node.has_value(); },
      "has no NUMA affinity of one node", doubts);
  doubt_lacking(
      matrix, is_gpu, [](const auto& device) { return !device.model.empty(); }, "has no model",
      doubts);
  doubt_lacking(
      matrix, [](const auto& device) { return device.name.starts_with("NIC"); },
      [](const auto& device) { return !device.alias.empty(); }, "has no name in the legend",
      doubts);
  doubt_legend(matrix, doubts);
  doubt_links(matrix, doubts);
  doubt_nodes(matrix, doubts);
  doubt_affinities(matrix, doubts);
  return doubts;
}

}  // namespace ucxbench
