#include "harness/analysis/comparison/streams.hpp"

#include <map>
#include <tuple>

#include "harness/analysis/asked.hpp"
#include "harness/analysis/comparison/environments.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

struct Stream {
  const Result* latest = nullptr;
  DecidingEnvironment known;  ///< of the newest segment, from all of its runs
  std::size_t segment = 0;
};

void learn(std::string& known, const std::string& more) {
  if (known.empty()) known = more;
}

void take(Stream& stream, const Result& run) {
  const auto own = deciding_environment(run);
  if (!deciding_differences(stream.known, own).empty()) {
    ++stream.segment;
    stream.known = own;
  }
  learn(stream.known.ucx, own.ucx);
  learn(stream.known.driver, own.driver);
  learn(stream.known.topology, own.topology);
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
