#include "harness/result/clocks.hpp"

#include <algorithm>
#include <cmath>

#include "harness/result/cases.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

SeenClock::Seen seen_in(const Json& json) {
  return {.at_ns = json.at("at_ns").get<std::int64_t>(),
          .offset_ns = json.at("offset_ns").get<std::int64_t>(),
          .uncertainty_ns = json.at("uncertainty_ns").get<std::uint64_t>()};
}

}  // namespace

std::int64_t SeenClock::on_first(std::uint64_t ns) const {
  const auto at_ns = static_cast<std::int64_t>(ns) - begin.offset_ns;
  if (end.at_ns <= begin.at_ns) return at_ns;
  const auto drift = static_cast<double>(end.offset_ns - begin.offset_ns) /
                     static_cast<double>(end.at_ns - begin.at_ns);
  return at_ns - std::llround(drift * static_cast<double>(at_ns - begin.at_ns));
}

std::uint64_t SeenClock::uncertainty_ns() const {
  return std::max(begin.uncertainty_ns, end.uncertainty_ns);
}

HostClocks::HostClocks(const Result& result)
    : first_(text_at(result.machine, "/hosts/0/name", "")), hosts_(hosts_of_ranks(result)) {
  for (std::size_t at = 0; at < result.cases.size(); ++at) {
    const auto& of = result.cases[at];
    if (!of.hosts.empty()) hosts_of_cases_[at] = hosts_of_ranks(result, of);
  }
  for (const auto& clock : result.run.value("clocks", Json::array())) {
    const auto& begin = clock.at("begin").is_null() ? clock.at("end") : clock.at("begin");
    const auto& end = clock.at("end").is_null() ? begin : clock.at("end");
    const SeenClock seen{.begin = seen_in(begin), .end = seen_in(end)};
    for (const auto& index : clock.at("cases")) {
      known_[{index.get<std::size_t>(), clock.at("launch").get<int>(),
              clock.at("host").get<std::string>()}] = seen;
    }
  }
}

std::optional<SeenClock> HostClocks::of(std::size_t case_index, int launch, int rank) const {
  const auto own = hosts_of_cases_.find(case_index);
  const auto& hosts = own == hosts_of_cases_.end() ? hosts_ : own->second;
  const auto host = hosts.find(rank);
  if (host == hosts.end() || host->second == first_) return SeenClock{};
  const auto found = known_.find({case_index, launch, host->second});
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace ucxbench
