#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "harness/analysis/rules/rules.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

const auto* const compare_host = "compare it with another host: ucx-bench doctor on both";
const auto* const compare_rail = "check its NIC, cable and CPUs";
const auto* const look_between = "check the cables and switches between them";

std::string sweep_of(const Block& block, const Case& of) {
  return fmt::format("{}, {}", block.title, size_of(of));
}

Json list_at(const Case& of, const char* name) {
  const auto found = of.sweep.find(name);
  return found == of.sweep.end() || !found->is_array() ? Json::array() : *found;
}

/// "-5.2"; of what is far beyond doubt a whole number.
std::string z_text(const Json& of) {
  const auto z = number_at(of, "z").value_or(0);
  return fmt::format("{:.{}f}", z, std::abs(z) < 10 ? 1 : 0);
}

/// "sends at 25 % of the median host"; of both directions the worse.
std::string how_slow(const Json& end, const std::string& kind) {
  const auto slow = text_at(end, "/slow");
  const auto sends = number_at(end, "sends").value_or(1);
  const auto receives = number_at(end, "receives").value_or(1);
  const auto share = slow == "sends"      ? sends
                     : slow == "receives" ? receives
                                          : std::min(sends, receives);
  return fmt::format("{} at {} of the median {} (z {})", slow, share_text(share), kind,
                     z_text(end));
}

/// The same link the other way round, where that is slow, too.
const Json* way_back(const Json& links, const Json& link) {
  const auto back = std::ranges::find_if(links, [&](const Json& other) {
    return text_at(other, "/from") == text_at(link, "/to") &&
           text_at(other, "/to") == text_at(link, "/from");
  });
  return back == links.end() ? nullptr : &*back;
}

}  // namespace

std::vector<Finding> slow_host(const Judged& run) {
  std::vector<Finding> findings;
  for (const auto& block : run.timed) {
    for (const auto* of : block.measured) {
      const auto hosts = list_at(*of, "hosts");
      for (const auto& host : hosts) {
        if (text_at(host, "/slow", "").empty()) continue;
        findings.push_back(
            {.subject = sweep_of(block, *of),
             .evidence = fmt::format("{} {}", text_at(host, "/host"),
                                     how_slow(host, fmt::format("of {} hosts", hosts.size()))),
             .next = compare_host});
      }
      for (const auto& rail : list_at(*of, "rails")) {
        if (text_at(rail, "/slow", "").empty()) continue;
        const auto devices = text_at(rail, "/devices", "");
        findings.push_back(
            {.subject = sweep_of(block, *of),
             .evidence =
                 fmt::format("rank {} on {}{} {}", text_at(rail, "/rank"), text_at(rail, "/host"),
                             devices.empty() ? "" : " (" + devices + ")", how_slow(rail, "rank")),
             .next = compare_rail});
      }
    }
  }
  return findings;
}

std::vector<Finding> slow_link(const Judged& run) {
  std::vector<Finding> findings;
  for (const auto& block : run.timed) {
    for (const auto* of : block.measured) {
      const auto links = list_at(*of, "links");
      for (const auto& link : links) {
        const auto* back = way_back(links, link);
        const bool said = back != nullptr && back < &link;
        if (said) continue;
        findings.push_back(
            {.subject = sweep_of(block, *of),
             .evidence = fmt::format(
                 "{}->{}: {} GB/s, {} of what both reach with others (z {}){}",
                 text_at(link, "/from"), text_at(link, "/to"),
                 significant(number_at(link, "p50_GBps"), 3),
                 share_text(number_at(link, "of_expected").value_or(1)), z_text(link),
                 back == nullptr
                     ? ""
                     : fmt::format(", back {}", significant(number_at(*back, "p50_GBps"), 3))),
             .next = look_between});
      }
    }
  }
  return findings;
}

}  // namespace ucxbench
