#include <fmt/format.h>

#include "harness/analysis/rules/impossible.hpp"
#include "harness/analysis/rules/rules.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {

std::vector<Finding> wrong_data(const Judged& run) {
  std::vector<Finding> findings;
  for (const auto& block : run.blocks) {
    std::uint64_t errors = 0;
    for (const auto* of : block.cases) errors += of->verified.errors;
    if (errors == 0) continue;
    const bool workload = is_workload(*block.cases.front());
    findings.push_back(
        {.subject = block.title,
         .evidence = workload
                         ? counted(errors, "run of a rank", "runs of a rank") + " had wrong data"
                         : counted(errors, "message") + " arrived with wrong data",
         .next = "discard these figures; check memory and network, then report it to the UCX "
                 "developers"});
  }
  return findings;
}

std::vector<Finding> no_bytes(const Judged& run) {
  std::vector<Finding> findings;
  for (const auto& block : run.blocks) {
    for (const auto* of : block.measured) {
      const auto found = run.no_bytes.find(of);
      auto evidence = found == run.no_bytes.end() ? missing_pairs_in_words(*of) : found->second;
      if (evidence.empty()) continue;
      findings.push_back({.subject = subject_of(block, *of),
                          .evidence = std::move(evidence),
                          .next = "take no figure of this case; look for a rank that hangs, or a "
                                  "link that is down"});
    }
  }
  return findings;
}

std::vector<Finding> partial_run(const Judged& run) {
  const auto state = text_at(run.result.run, "/state", "complete");
  if (state == "complete") return {};
  return {{.subject = "run",
           .evidence = "the run is " + state + ": results are partial",
           .next = "run again for the missing cases"}};
}

std::vector<Finding> bad_end(const Judged& run) {
  std::vector<Finding> findings;
  const auto found = run.result.run.find("bad_ends");
  if (found == run.result.run.end() || !found->is_array()) return {};
  for (const auto& how : *found) {
    if (!how.is_string()) continue;
    findings.push_back({.subject = "run",
                        .evidence = how.get<std::string>() + ", after all was reported: it is kept",
                        .next = "look for what runs at its end: exit handlers of libraries, "
                                "UCX's modules"});
  }
  return findings;
}

std::vector<Finding> max_time(const Judged& run) {
  const auto left_out = text_at(run.result.run, "/left_out", "");
  if (left_out.empty()) return {};
  return {{.subject = "run", .evidence = left_out, .next = "raise max_time, or remove cases"}};
}

std::vector<Finding> log_full(const Judged& run) {
  std::vector<Finding> findings;
  for (const auto& block : run.blocks) {
    double dropped = 0;
    for (const auto* of : block.cases) {
      for (const auto& record : of->launches) {
        if (!record.workload.contains("exchange")) continue;
        dropped += number_at(record.workload.at("exchange"), "transfers_dropped").value_or(0);
      }
    }
    if (dropped == 0) continue;
    findings.push_back(
        {.subject = block.title,
         .evidence = fmt::format("{:.0f} transfers had no room in the ranks' logs: pairs and "
                                 "overlap are not known",
                                 dropped),
         .next = "measure fewer runs, or larger messages"});
  }
  return findings;
}

std::vector<Finding> emulated_cpu(const Judged& run) {
  if (!run.labelled("emulated-cpu")) return {};
  return {{.subject = "machine",
           .evidence = "the CPU is emulated: no figure is a performance figure",
           .next = "measure on real hardware"}};
}

}  // namespace ucxbench
