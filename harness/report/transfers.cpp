// What becomes of a run's transfer log: rows for analysis, and a picture of time.

#include "harness/result/transfers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "harness/core/failure.hpp"
#include "harness/report/report.hpp"
#include "harness/report/text.hpp"
#include "harness/result/clocks.hpp"

namespace ucxbench {
namespace {

std::vector<LoggedTransfers> transfers_of(const Result& result) {
  const auto name = text_at(result.run, "/transfers", "");
  if (name.empty()) {
    throw Failure(Exit::usage,
                  "this run has no transfer log: only workloads write one, "
                  "unless --no-transfer-log is given");
  }
  return read_transfers(result.file.parent_path() / name);
}

std::string key_of(const Result& result, const TransferSection& section) {
  return section.case_index < result.cases.size() ? result.cases[section.case_index].key : "-";
}

std::string phase_of(const Result& result, const TransferSection& section, std::uint64_t phase) {
  if (section.case_index < result.cases.size()) {
    const auto& phases = result.cases[section.case_index].phases;
    if (phase < phases.size()) return text_at(phases.at(phase), "/name");
  }
  return fmt::format("phase {}", phase);
}

const char* name_of(std::uint8_t kind) {
  return kind == Transfer::send ? "send" : kind == Transfer::receive ? "receive" : "phase";
}

std::string render_transfers(const Result& result, const RenderOptions&) {
  std::string out =
      "key,launch,iteration,rank,peer,kind,phase,label,bytes,posted_ns,completed_ns,in_flight,"
      "at_once\r\n";
  for (const auto& [section, records] : transfers_of(result)) {
    const auto key = key_of(result, section);
    for (const auto& t : records) {
      const bool phase = t.kind == Transfer::phase;
      out += fmt::format(
          "{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n", key, section.launch, t.iteration, t.rank,
          t.peer, name_of(t.kind), phase ? phase_of(result, section, t.label) : "",
          phase ? "" : fmt::format("{}", t.label), t.bytes, t.posted_ns,
          t.completed_ns == 0 ? "" : fmt::format("{}", t.completed_ns), t.in_flight, t.at_once);
    }
  }
  return out;
}

SeenClock clock_of(const HostClocks& clocks, const TransferSection& section) {
  const auto clock = clocks.of(section.case_index, static_cast<int>(section.launch),
                               static_cast<int>(section.rank));
  return clock.value_or(SeenClock{});  // or as if it were the first host's
}

/// ", ± 12 µs"; empty of the first host's own clock.
std::string uncertainty_of(const SeenClock& clock) {
  const auto us = static_cast<double>(clock.uncertainty_ns()) * 1e-3;
  return us > 0 ? fmt::format(", \u00b1 {:.3g} \u00b5s", us) : "";
}

// The Trace Event Format of Chrome and Perfetto (Google, "Trace Event Format", 2016): a process per
// case, launch and rank; phases as complete events, transfers, which overlap, as asynchronous ones.
std::string render_trace(const Result& result, const RenderOptions&) {
  const auto all = transfers_of(result);
  const HostClocks clocks(result);
  auto begin = std::numeric_limits<std::int64_t>::max();
  for (const auto& [section, records] : all) {
    const auto clock = clock_of(clocks, section);
    for (const auto& t : records) begin = std::min(begin, clock.on_first(t.posted_ns));
  }
  Json events = Json::array();
  std::uint64_t id = 0;
  for (const auto& [section, records] : all) {
    const auto clock = clock_of(clocks, section);
    // Microseconds from the first record on: a viewer's numbers are doubles.
    const auto since = [&](std::uint64_t ns) {
      return static_cast<double>(clock.on_first(ns) - begin) * 1e-3;
    };
    const auto pid =
        (std::uint64_t{section.case_index} * 1000 + section.launch) * 1000 + section.rank;
    events.push_back(
        {{"ph", "M"},
         {"name", "process_name"},
         {"pid", pid},
         {"args",
          {{"name", fmt::format("rank {}, launch {}, {}{}", section.rank, section.launch,
                                key_of(result, section), uncertainty_of(clock))}}}});
    // Its width is how far this rank may have to be moved against those of the first host.
    if (clock.uncertainty_ns() > 0 && !records.empty()) {
      const auto us = static_cast<double>(clock.uncertainty_ns()) * 1e-3;
      events.push_back({{"ph", "X"},
                        {"cat", "clock"},
                        {"name", "clock" + uncertainty_of(clock)},
                        {"pid", pid},
                        {"tid", 2},
                        {"ts", since(records.front().posted_ns) - us},
                        {"dur", 2 * us}});
    }
    for (const auto& t : records) {
      if (t.completed_ns == 0) continue;
      if (t.kind == Transfer::phase) {
        events.push_back({{"ph", "X"},
                          {"cat", "phase"},
                          {"name", phase_of(result, section, t.label)},
                          {"pid", pid},
                          {"tid", 0},
                          {"ts", since(t.posted_ns)},
                          {"dur", static_cast<double>(t.completed_ns - t.posted_ns) * 1e-3},
                          {"args", {{"iteration", t.iteration}}}});
        continue;
      }
      const auto name =
          fmt::format("{} {}->{}", name_of(t.kind), t.kind == Transfer::send ? t.rank : t.peer,
                      t.kind == Transfer::send ? t.peer : t.rank);
      ++id;
      events.push_back({{"ph", "b"},
                        {"cat", "transfer"},
                        {"name", name},
                        {"id", id},
                        {"pid", pid},
                        {"tid", 1},
                        {"ts", since(t.posted_ns)},
                        {"args",
                         {{"bytes", t.bytes},
                          {"in_flight", t.in_flight},
                          {"iteration", t.iteration},
                          {"label", t.label}}}});
      events.push_back({{"ph", "e"},
                        {"cat", "transfer"},
                        {"name", name},
                        {"id", id},
                        {"pid", pid},
                        {"tid", 1},
                        {"ts", since(t.completed_ns)}});
    }
  }
  return json_text({{"traceEvents", std::move(events)}, {"displayTimeUnit", "ns"}}) + "\n";
}

const RegisterFormat rows{{.name = "transfers",
                           .description = "every message and phase of a workload, as CSV",
                           .render = render_transfers}};
const RegisterFormat trace{{.name = "trace",
                            .description = "a workload's phases and messages for chrome://tracing "
                                           "or ui.perfetto.dev",
                            .render = render_trace}};

}  // namespace
}  // namespace ucxbench
