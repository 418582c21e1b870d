#include "bench/p2p/facts.hpp"

#include "harness/core/or_null.hpp"

namespace ucxbench::p2p {

Json to_json(const std::vector<Timed>& streams) {
  auto list = Json::array();
  for (const auto& of : streams) {
    list.push_back({of.messages, number_or_null(of.per_s), of.begin_ns, of.end_ns});
  }
  return list;
}

Timed stream_from(const Json& of) {
  return {.messages = of.at(0).get<std::uint64_t>(),
          .per_s = of.at(1).is_null() ? std::nullopt : std::optional(of.at(1).get<double>()),
          .begin_ns = of.at(2).get<std::uint64_t>(),
          .end_ns = of.at(3).get<std::uint64_t>()};
}

std::vector<Timed> streams_from(const Json& list) {
  std::vector<Timed> streams;
  for (const auto& of : list) streams.push_back(stream_from(of));
  return streams;
}

}  // namespace ucxbench::p2p
