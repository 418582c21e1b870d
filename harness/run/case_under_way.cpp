#include "harness/run/case_under_way.hpp"

#include <utility>

namespace ucxbench {

CaseUnderWay::CaseUnderWay(RankContext& context, std::size_t index,
                           std::function<Finished()> finished)
    : context_(context) {
  context_.rendezvous().at_stop([this, index, finished = std::move(finished)] {
    mutex_.lock();  // for good
    const auto part = finished();
    auto reports = context_.transfer_reports(index, part.transfers);
    if (!part.records.empty()) {
      reports.push_back(context_.case_report(index, part.records, part.verified, part.error,
                                             part.peak_bytes, true));
    }
    return reports;
  });
}

CaseUnderWay::~CaseUnderWay() {
  const auto lock = change();
  context_.rendezvous().at_stop({});
}

}  // namespace ucxbench
