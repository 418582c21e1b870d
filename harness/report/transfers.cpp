// What becomes of a run's transfer log: rows for analysis, and a picture of time.

#include "harness/result/transfers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "harness/core/failure.hpp"
#include "harness/report/report.hpp"
#include "harness/report/text.hpp"

namespace ucxbench {
namespace {

std::vector<LoggedTransfers> transfers_of(const Result& result) {
  const auto name = text_at(result.run, "/transfers", "");
  if (name.empty()) {
    throw Failure(Exit::usage,
                  "this run has no transfer log: only workloads (merge, transpose) write one, "
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

// Microseconds from the first record on: a viewer's numbers are doubles.
double since(std::uint64_t begin, std::uint64_t ns) {
  return static_cast<double>(ns - begin) * 1e-3;
}

// The Trace Event Format of Chrome and Perfetto (Google, "Trace Event Format", 2016): a process per
// case, launch and rank; phases as complete events, transfers, which overlap, as asynchronous ones.
std::string render_trace(const Result& result, const RenderOptions&) {
  const auto all = transfers_of(result);
  auto begin = std::numeric_limits<std::uint64_t>::max();
  for (const auto& logged : all) {
    for (const auto& t : logged.records) begin = std::min(begin, t.posted_ns);
  }
  Json events = Json::array();
  std::uint64_t id = 0;
  for (const auto& [section, records] : all) {
    const auto pid =
        (std::uint64_t{section.case_index} * 1000 + section.launch) * 1000 + section.rank;
    events.push_back({{"ph", "M"},
                      {"name", "process_name"},
                      {"pid", pid},
                      {"args",
                       {{"name", fmt::format("rank {}, launch {}, {}", section.rank, section.launch,
                                             key_of(result, section))}}}});
    for (const auto& t : records) {
      if (t.completed_ns == 0) continue;
      if (t.kind == Transfer::phase) {
        events.push_back({{"ph", "X"},
                          {"cat", "phase"},
                          {"name", phase_of(result, section, t.label)},
                          {"pid", pid},
                          {"tid", 0},
                          {"ts", since(begin, t.posted_ns)},
                          {"dur", since(t.posted_ns, t.completed_ns)},
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
                        {"ts", since(begin, t.posted_ns)},
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
                        {"ts", since(begin, t.completed_ns)}});
    }
  }
  return Json({{"traceEvents", std::move(events)}, {"displayTimeUnit", "ns"}}).dump() + "\n";
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
