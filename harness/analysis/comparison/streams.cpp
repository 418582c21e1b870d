#include "harness/analysis/comparison/streams.hpp"

#include <cstddef>
#include <map>
#include <tuple>
#include <vector>

#include "harness/analysis/asked.hpp"
#include "harness/analysis/comparison/environments.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

struct Stream {
  const Result* latest = nullptr;
  std::vector<DecidingEnvironment> segments;  ///< what is known of each, from all of its runs
  std::size_t segment = 0;                    ///< the newest run's
};

void learn(std::string& known, const std::string& more) {
  if (known.empty()) known = more;
}

/// The newest run's segment if the environment is still that one, else the last that had it.
std::size_t segment_of(const Stream& stream, const DecidingEnvironment& own) {
  const auto has_it = [&](std::size_t segment) {
    return deciding_differences(stream.segments[segment], own).empty();
  };
  const auto count = stream.segments.size();
  if (count > 0 && has_it(stream.segment)) return stream.segment;
  for (auto segment = count; segment-- > 0;) {
    if (has_it(segment)) return segment;
  }
  return count;
}

void take(Stream& stream, const Result& run) {
  const auto own = deciding_environment(run);
  stream.segment = segment_of(stream, own);
  if (stream.segment == stream.segments.size()) stream.segments.push_back(own);
  auto& known = stream.segments[stream.segment];
  learn(known.ucx, own.ucx);
  learn(known.driver, own.driver);
  learn(known.topology, own.topology);
  stream.latest = &run;
}

}  // namespace

std::vector<StreamPlace> places_in_streams(std::span<const Result> runs) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, Stream> streams;
  std::vector<StreamPlace> places;
  for (const auto& run : runs) {
    StreamPlace place{.machine = machine_of(run),
                      .branch = text_at(run.run, "/tags/branch", ""),
                      .what = asked_in_words(run),
                      .side = text_at(run.run, "/ab/side", ""),
                      .differs = {}};
    auto& stream = streams[{place.machine, place.branch, place.what, place.side}];
    if (stream.latest != nullptr) place.differs = environment_differences(*stream.latest, run);
    take(stream, run);
    place.segment = stream.segment;
    places.push_back(std::move(place));
  }
  return places;
}

}  // namespace ucxbench
