#include "harness/transports/counters.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <sstream>
#include <thread>

#include "harness/core/files.hpp"
#include "harness/core/text.hpp"
#include "harness/topology/nvml.hpp"

namespace ucxbench {
namespace {

namespace fs = std::filesystem;

std::optional<std::uint64_t> transmitted_by(const fs::path& port) {
  if (const auto words = number_of(port / "counters/port_xmit_data")) return 4 * *words;
  const auto packets = number_of(port / "hw_counters/sent_pkts");
  if (!packets) return std::nullopt;
  const auto device = first_line(port / "gid_attrs/ndevs/0");
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
      if (i == transmitted)
        bytes[std::string(trim_text(std::string_view(line).substr(0, colon)))] = value;
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
  const fs::path infiniband = "/sys/class/infiniband";
  for (const auto& device : entries_of(infiniband)) {
    for (const auto& port : entries_of(infiniband / device / "ports")) {
      if (const auto bytes = transmitted_by(infiniband / device / "ports" / port)) {
        all["ib/" + device + ":" + port] = *bytes;
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
    if (old != before.end() && value >= old->second) deltas[name] = value - old->second;
  }
  return deltas;
}

Counters moved_since(const Counters& before) {
  const auto of_adapter = [](const std::string& name) { return name.starts_with("ib/"); };
  auto now = read_counters();
  bool may_lag = std::ranges::any_of(now, of_adapter, &Counters::value_type::first);
  for (int tries = 0; may_lag && tries < 20; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    may_lag = false;
    for (const auto& [name, bytes] : read_counters()) {
      if (!of_adapter(name) || now[name] == bytes) continue;
      now[name] = bytes;
      may_lag = true;
    }
  }
  return moved(before, now);
}

}  // namespace ucxbench
