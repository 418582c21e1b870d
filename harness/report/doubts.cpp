#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/core/statistics.hpp"
#include "harness/core/units.hpp"
#include "harness/report/view.hpp"

namespace ucxbench {
namespace {

constexpr double wide_interval = 0.10;     ///< of the median: wider is hard to compare
constexpr double timing_distorts = 0.01;   ///< the promised agreement of timed and untimed means
constexpr std::size_t least_launches = 6;  ///< below, order statistics give no 95% interval

/// Which cases of a block trip a check, and the worst of them.
struct Tally {
  std::size_t cases = 0;
  std::size_t tripped = 0;
  double worst = 0;
  std::string where;

  void add(double value, double limit, const Case& of) {
    ++cases;
    if (!(value > limit)) return;
    ++tripped;
    if (value > worst) {
      worst = value;
      where = bytes_of(of) ? exact_size(*bytes_of(of)) : of.key;
    }
  }
};

std::string at_most(const Tally& tally) {
  return fmt::format("{:.{}f}% ({}; {} of {} cases)", 100 * tally.worst, tally.worst < 0.1 ? 1 : 0,
                     tally.where, tally.tripped, tally.cases);
}

/// "bandwidth_bidirectional_GBps" → "bandwidth bidirectional".
std::string in_words(const std::string& metric) {
  auto words = metric.substr(0, metric.rfind('_'));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

void doubt_intervals(const Block& block, std::vector<Doubt>& doubts) {
  std::map<std::string, Tally> tallies;
  for (const auto* of : block.measured) {
    for (const auto& [name, metric] : of->metrics) {
      const auto& p50 = metric.quantiles.p50;
      // A message rate is the bandwidth in other units.
      if (!metric.ci95 || !p50 || *p50 <= 0 || name.ends_with("_per_s")) continue;
      tallies[in_words(name)].add(((*metric.ci95)[1] - (*metric.ci95)[0]) / *p50, wide_interval,
                                  *of);
    }
  }
  std::vector<std::string> wide;
  for (const auto& [name, tally] : tallies) {
    if (tally.tripped > 0) wide.push_back(name + " up to " + at_most(tally));
  }
  if (wide.empty()) return;
  doubts.push_back({.subject = block.title,
                    .evidence = "wide 95% CI: " + join(wide, ", "),
                    .advice = "bimodal or busy host: close other programs or raise --launches"});
}

void doubt_timing(const Block& block, std::vector<Doubt>& doubts) {
  Tally tally;
  for (const auto* of : block.measured) {
    std::vector<double> ratios;
    for (const auto& record : of->launches) {
      if (const auto ratio = timed_over_untimed(record)) ratios.push_back(*ratio);
    }
    if (!ratios.empty()) tally.add(std::abs(median(ratios) - 1), timing_distorts, *of);
  }
  if (tally.tripped == 0) return;
  doubts.push_back(
      {.subject = block.title,
       .evidence = "timed and untimed loops differ by up to " + at_most(tally),
       .advice =
           "measuring costs that much, or the host is busy: see 'measuring', raise --launches"});
}

void doubt_launches(const Block& block, std::vector<Doubt>& doubts) {
  std::size_t most = 0;
  for (const auto* of : block.measured) {
    for (const auto& [name, metric] : of->metrics) {
      most = std::max(most, metric.launch_medians.size());
    }
  }
  if (block.measured.empty() || most >= least_launches) return;
  doubts.push_back({.subject = block.title,
                    .evidence = counted(most, "launch", "launches") + ": no confidence interval",
                    .advice = "use --launches 6 or more"});
}

void doubt_data(const Block& block, std::vector<Doubt>& doubts) {
  std::uint64_t errors = 0;
  for (const auto* of : block.cases) errors += of->verified.errors;
  if (errors == 0) return;
  doubts.push_back({.subject = block.title,
                    .evidence = counted(errors, "message") + " arrived with wrong data",
                    .advice = "do not use these numbers; check memory and network hardware, then "
                              "report it to the UCX developers"});
}

void doubt_machine(const Result& result, std::vector<Doubt>& doubts) {
  for (const auto& label : result.machine.value("labels", Json::array())) {
    if (label != "emulated-cpu") continue;
    doubts.push_back({.subject = "machine",
                      .evidence = "emulated CPU: not a performance figure",
                      .advice = "it shows what works; measure on real hardware"});
  }
}

}  // namespace

std::vector<Doubt> doubts_of(const Result& result) {
  std::vector<Doubt> doubts;
  const auto state = text_at(result.run, "/state", "complete");
  if (state != "complete") {
    doubts.push_back({.subject = "run",
                      .evidence = "the run is " + state + ": results are partial",
                      .advice = "run it again for the missing cases"});
  }
  doubt_machine(result, doubts);
  for (const auto& finding : result.findings) {
    doubts.push_back({.subject = text_at(finding, "/id") + " " + text_at(finding, "/severity") +
                                 " " + text_at(finding, "/subject"),
                      .evidence = text_at(finding, "/evidence"),
                      .advice = text_at(finding, "/next")});
  }
  for (const auto& block : blocks_of(result)) {
    doubt_data(block, doubts);
    doubt_launches(block, doubts);
    doubt_intervals(block, doubts);
    doubt_timing(block, doubts);
  }
  return doubts;
}

}  // namespace ucxbench
