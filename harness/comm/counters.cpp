#include "harness/comm/counters.hpp"

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include "harness/comm/nvlink_counters.hpp"
#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::optional<std::uint64_t> number_of(const fs::path& file) {
  std::ifstream in(file);
  std::uint64_t value = 0;
  return in >> value ? std::optional(value) : std::nullopt;
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(folder, absent)) found.push_back(entry.path());
  return found;
}

std::optional<std::uint64_t> transmitted_by(const fs::path& port) {
  if (const auto words = number_of(port / "counters/port_xmit_data")) return 4 * *words;
  const auto packets = number_of(port / "hw_counters/sent_pkts");
  if (!packets) return std::nullopt;
  const auto device = std::string(trim_text(text_of(port / "gid_attrs/ndevs/0")));
  const auto mtu = number_of(fs::path("/sys/class/net") / device / "mtu").value_or(1500);
  return *packets * roce_mtu(mtu);
}

}  // namespace

std::map<std::string, std::uint64_t> parse_net_dev(const std::string& text) {
  // "  eth0: BYTES packets errs drop fifo frame compressed multicast BYTES packets …"
  constexpr std::size_t transmitted = 8;
  std::map<std::string, std::uint64_t> bytes;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::istringstream numbers(line.substr(colon + 1));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i <= transmitted && numbers >> value; ++i) {
      if (i == transmitted) bytes[std::string(trim_text(line.substr(0, colon)))] = value;
    }
  }
  return bytes;
}

std::uint64_t roce_mtu(std::uint64_t mtu) {
  constexpr std::uint64_t headers = 40 + 12 + 28 + 16 + 4;  // GRH, BTH, extended, immediate, CRC
  std::uint64_t largest = 256;
  for (const std::uint64_t known : {512U, 1024U, 2048U, 4096U}) {
    if (known + headers <= mtu) largest = known;
  }
  return largest;
}

Counters read_counters() {
  Counters all;
  for (const auto& [device, bytes] : parse_net_dev(text_of("/proc/net/dev"))) {
    all["tcp/" + device] = bytes;
  }
  for (const auto& device : entries("/sys/class/infiniband")) {
    for (const auto& port : entries(device / "ports")) {
      if (const auto bytes = transmitted_by(port)) {
        all["ib/" + device.filename().string() + ":" + port.filename().string()] = *bytes;
      }
    }
  }
  for (const auto& [gpu, bytes] : nvlink_transmitted()) all["nvlink/" + gpu] = bytes;
  return all;
}

Counters moved(const Counters& before, const Counters& after) {
  Counters deltas;
  for (const auto& [name, value] : after) {
    const auto old = before.find(name);
    if (old != before.end() && value > old->second) deltas[name] = value - old->second;
  }
  return deltas;
}

}  // namespace ucxbench
