#include "bench/p2p/report.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <future>
#include <span>
#include <string>
#include <utility>

#include "bench/p2p/duet_blocks.hpp"
#include "bench/p2p/schedule.hpp"
#include "harness/core/statistics.hpp"
#include "harness/result/samples.hpp"
#include "harness/run/proof_record.hpp"
#include "harness/run/together.hpp"

namespace ucxbench::p2p {
namespace {

constexpr std::size_t most_at_once = 256;  // pairs in a report: the coordinator serves others too

class Reporter {
 public:
  Reporter(RankContext& context, const Rendezvous::Progress& waiting)
      : context_(context), rendezvous_(context.rendezvous()), waiting_(waiting) {}

  void report(const PlannedCase<Parameters>& planned, const std::vector<Json>& ranks) {
    const auto& p = planned.parameters;
    std::uint64_t peak = 0;
    std::uint64_t asleep_ns = 0;
    for (const auto& rank : ranks) {
      peak = std::max(peak, rank.at("peak_buffer_bytes").get<std::uint64_t>());
      asleep_ns += rank.at("asleep_ns").get<std::uint64_t>();
    }
    const auto pairs = ordered_pairs(p.ranks);
    // Of so many pairs, from `begin` on.
    const auto made = [&](std::size_t begin) {
      std::vector<LaunchRecord> records;
      Checks checks;
      for (const auto& [src, dst] :
           std::span(pairs).subspan(begin, std::min(most_at_once, pairs.size() - begin))) {
        const auto& receiver = ranks[static_cast<std::size_t>(dst)];
        records.push_back(record_of(p, src, dst, ranks[static_cast<std::size_t>(src)], receiver));
      }
      if (begin == 0) {
        for (const auto& rank : ranks) checks.add(parse_checks(rank.at("checks")));
        if (p.concurrent == Concurrent::all) add_together(p, ranks, records.front());
        if (asleep_ns > 0) {
          records.front().overheads["asleep_ms"] = static_cast<double>(asleep_ns) * 1e-6;
        }
      }
      return context_.case_report(planned.index, records, checks.verified, checks.error, peak);
    };
    // While the coordinator takes one, the next is made.
    auto next = std::async(std::launch::deferred, made, 0);
    for (std::size_t begin = 0; begin < pairs.size(); begin += most_at_once) {
      const auto [key, value] = next.get();
      if (const auto after = begin + most_at_once; after < pairs.size()) {
        next = std::async(std::launch::async, made, after);
      }
      rendezvous_.put(key, value, waiting_);
    }
  }

 private:
  static const Json& received(const Json& receiver, int src) {
    return receiver.at("received").at(static_cast<std::size_t>(src));
  }

  /// To the record of one pair, what all pairs were together.
  void add_together(const Parameters& p, const std::vector<Json>& ranks,
                    LaunchRecord& record) const {
    const bool one_identity = have_one_identity(ranks);
    std::vector<double> GBps;
    std::vector<double> common_ms;
    std::vector<double> span_ms;
    for (std::size_t run = 0; run < ranks[0].at("meetings").size(); ++run) {
      const auto all = together_of(spans_of(p, ranks, run, one_identity));
      if (const auto rate = all.GBps()) GBps.push_back(*rate);
      common_ms.push_back(all.common_ns * 1e-6);
      span_ms.push_back(all.span_ns * 1e-6);
    }
    const auto runs = GBps.size();
    if (runs > 0) record.samples["together_GBps"] = make_samples(std::move(GBps), runs);
    keep_blocks_of(record, p, "together_GBps");
    record.overheads["streams_common_ms"] = median(common_ms);
    record.overheads["streams_span_ms"] = median(span_ms);
  }

  static std::vector<Span> spans_of(const Parameters& p, const std::vector<Json>& ranks,
                                    std::size_t run, bool one_identity) {
    std::vector<Met> meetings;
    for (const auto& rank : ranks) meetings.push_back(met_from(rank.at("meetings").at(run)));
    const TimeAxis axis(one_identity, meetings);
    std::vector<Span> spans;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      const auto& meeting = meetings[rank];
      for (const auto& from_one : ranks[rank].at("received")) {
        if (from_one.is_null()) continue;
        const auto stream = stream_from(from_one.at(0).at(run));
        spans.push_back(
            {.begin = axis.at(stream.begin_ns, meeting),
             .end = axis.at(stream.end_ns, meeting),
             .bytes = static_cast<double>(stream.messages) * static_cast<double>(p.bytes)});
      }
    }
    return spans;
  }

  void keep_blocks_of(LaunchRecord& record, const Parameters& p, const std::string& metric) const {
    if (const auto* duet = context_.duet()) keep_streams(record, *duet, p, metric);
  }

  LaunchRecord record_of(const Parameters& p, int src, int dst, const Json& sender,
                         const Json& receiver) const {
    const auto& sent = sender.at("sent").at(static_cast<std::size_t>(dst));
    const auto launch = context_.plan().at("launch").get<int>();
    auto record =
        record_of_streams(p, launch, src, dst, streams_from(received(receiver, src).at(0)));
    keep_blocks_of(record, p, "bandwidth_GBps");
    record.lanes = sent.at(0).get<std::vector<std::string>>();
    const Evidence evidence{.lanes = record.lanes,
                            .path = {},
                            .device = device_name(p.comm),
                            .moved = counted_by_all({sent.at(1), received(receiver, src).at(1)}),
                            .payload_bytes = sent.at(2).get<std::uint64_t>(),
                            .message_bytes = static_cast<double>(p.bytes)};
    const auto others =
        p.concurrent == Concurrent::one ? GpusOfRanks::Others::wait : GpusOfRanks::Others::work;
    const auto labels = context_.gpus().labels(src, dst, record.lanes, others);
    record.path = path_record(TransportSet::of(p.transports), evidence, Json::array(), labels);
    return record;
  }

  RankContext& context_;
  Rendezvous& rendezvous_;
  const Rendezvous::Progress& waiting_;
};

}  // namespace

LaunchRecord record_of_streams(const Parameters& p, int launch, int src, int dst,
                               const std::vector<Timed>& streams) {
  LaunchRecord record;
  record.launch = launch;
  record.src = src;
  record.dst = dst;
  record.warmup_iterations = static_cast<std::uint64_t>(p.warmup_runs);
  std::vector<double> per_s;
  std::vector<double> GBps;
  for (const auto& stream : streams) {
    record.messages += stream.messages;
    if (!stream.per_s) continue;
    per_s.push_back(*stream.per_s);
    GBps.push_back(per_s.back() * static_cast<double>(p.bytes) * 1e-9);
  }
  const auto rates = per_s.size();
  if (rates > 0) {
    record.samples["bandwidth_GBps"] = make_samples(std::move(GBps), rates);
    record.samples["message_rate_per_s"] = make_samples(std::move(per_s), rates);
  }
  return record;
}

void report(RankContext& context, const PlannedCase<Parameters>& planned,
            const std::vector<Json>& ranks, const Rendezvous::Progress& waiting) {
  Reporter(context, waiting).report(planned, ranks);
}

}  // namespace ucxbench::p2p
