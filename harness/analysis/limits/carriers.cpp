#include "harness/analysis/limits/carriers.hpp"

#include <algorithm>

#include "harness/core/text.hpp"
#include "harness/result/paths.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

std::string nearly_all_by(const Json& path) {
  std::string name;
  for (const auto& [member, share] : carried_by(path)) {
    if (share >= nearly_all_payload) name = member;
  }
  return name;
}

void add_words_of_ucx(const Json& path, Carrier& carrier) {
  for (const auto& row : path.value("protocols", Json::array())) {
    carrier.read |= text_at(row, "/protocol", "").find("read") != std::string::npos;
    const auto devices = text_at(row, "/device", "");
    for (const auto lane : split_text(devices, ',')) {
      if (const auto name = trim_text(lane); !name.empty()) carrier.used.emplace(name);
    }
  }
}

}  // namespace

bool is_exchange(const Case& of) { return !of.exchange.empty(); }

bool all_at_once(const Case& of) {
  return is_exchange(of) || (of.shows.at_once == Concurrent::all && of.pairs.size() > 1);
}

Carriers::Carriers(const Case& of) : exchange_(is_exchange(of)) {
  for (const auto& record : of.launches) {
    const auto pair = exchange_ ? std::pair(0, 0) : std::pair(record.src, record.dst);
    const auto [found, first] = by_pair_.try_emplace(pair);
    auto& carrier = found->second;
    const auto name = nearly_all_by(record.path);
    if (first) carrier.name = name;
    if (name != carrier.name) carrier.name.clear();
    carrier.lanes.insert(record.lanes.begin(), record.lanes.end());
    add_words_of_ucx(record.path, carrier);
  }
}

const Carrier& Carriers::between(int src, int dst) const {
  static const Carrier unknown;
  const auto found = by_pair_.find(exchange_ ? std::pair(0, 0) : std::pair(src, dst));
  return found == by_pair_.end() ? unknown : found->second;
}

double load_of(const Case& of, const Json& pair) {
  return std::max(number_at(pair, is_exchange(of) ? "bytes" : "p50_GBps").value_or(0), 0.0);
}

}  // namespace ucxbench
