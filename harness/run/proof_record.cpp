#include "harness/run/proof_record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/core/units.hpp"

namespace ucxbench {

std::uint64_t counted_messages(std::uint64_t bytes) {
  constexpr std::uint64_t payload = std::uint64_t{512} * 1024;
  constexpr std::uint64_t most = 4096;
  return std::clamp<std::uint64_t>(payload / std::max<std::uint64_t>(bytes, 1), 2, most);
}

Json protocol_record(std::uint64_t bytes, const char* use, const MessagePath& path) {
  return {{"range", exact_size(bytes)},
          {"use", use},
          {"protocol", path.protocol},
          {"device", fmt::format("{}", fmt::join(path.lanes, ", "))},
          {"count", 1}};
}

Json path_labels(const std::optional<CudaDevice>& gpu, bool same_gpu,
                 const std::vector<std::string>& lanes) {
  Json all = Json::array();
  if (same_gpu) all.push_back("same-gpu");
  if (gpu && is_emulated(*gpu)) all.push_back("emulated-gpu");
  const bool rxe = std::any_of(lanes.begin(), lanes.end(), [](const std::string& lane) {
    return lane.find("/rxe") != std::string::npos;
  });
  if (rxe) all.push_back("soft-roce");
  return all;
}

Json path_record(const TransportSet& asked, const Evidence& evidence, const Json& protocols,
                 const Json& labels) {
  const auto verdict = judge(asked, evidence);
  Json path = {{"protocols", protocols},
               {"carried_by", verdict.carried},
               {"verdict", to_string(verdict.carrier)},
               {"why", verdict.why},
               {"labels", labels}};
  if (evidence.payload_bytes > 0) {
    path["bytes_by_counter"] = evidence.moved;
    path["payload_bytes"] = evidence.payload_bytes;
  }
  return path;
}

}  // namespace ucxbench
