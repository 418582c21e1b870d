#include "harness/analysis/comparison/looks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/analysis/comparison/signed_rank.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

// Of alpha, by the launches of all cases where some go on. Between a half and 80 % it makes little
// difference to what is found.
constexpr double part_of_all = 0.7;

// A loss that the launches of all cases would have found has a larger p-value, after two thirds of
// them, in fewer than one of 300 rows.
constexpr double unpromising_p = 0.2;

// Of alpha, up to this look.
double spent_until(int after, int launches, int most) {
  const auto of_all = most > launches ? part_of_all : 1;
  if (after <= launches) return of_all * std::pow(static_cast<double>(after) / launches, 3);
  return of_all + (1 - of_all) * (after - launches) / (most - launches);
}

int most_duets(const Result& run) {
  int most = 0;
  for (const auto& of : run.cases) {
    for (const auto& record : of.launches) {
      if (record.duet) most = std::max(most, record.launch + 1);
    }
  }
  return most;
}

bool of_one_ab(const Result& one, const Result& other) {
  return text_at(one.run, "/ab/other", "?") == text_at(other.run, "/id", "");
}

// Both runs' of one `ab`; empty where they planned none.
std::vector<int> looks_in(const Result& base, const Result& now) {
  const Json::json_pointer place("/ab/looks");
  if (!base.run.contains(place) || !now.run.contains(place) ||
      base.run.at(place) != now.run.at(place) || !of_one_ab(base, now) || !of_one_ab(now, base)) {
    return {};
  }
  return base.run.at(place).get<std::vector<int>>();
}

}  // namespace

std::vector<int> planned_looks(int launches, std::size_t tests, double alpha, int most) {
  const auto of_use = [&](int after) {
    return smallest_signed_rank_p(static_cast<std::size_t>(after)) * static_cast<double>(tests) <=
           alpha * spent_until(after, launches, most);
  };
  const auto apart = std::max(1, launches / 4);
  std::vector<int> planned;
  for (int after = 1; after <= launches - apart;) {
    if (planned.empty() && !of_use(after)) {
      ++after;
      continue;
    }
    planned.push_back(after);
    after += apart;
  }
  if (planned.empty()) return planned;
  planned.push_back(launches);
  for (const auto after : {launches + launches / 2, 2 * launches, 3 * launches}) {
    if (after > planned.back() && after <= most) planned.push_back(after);
  }
  return planned;
}

std::vector<Look> looks_after(const std::vector<int>& planned, int launches) {
  std::vector<Look> looks;
  double spent = 0;
  for (const auto after : planned) {
    const auto until = spent_until(after, launches, planned.back());
    looks.push_back({.after = after,
                     .share = until - spent,
                     .beyond = after > launches,
                     .unpromising = planned.back() > launches ? unpromising_p : 1});
    spent = until;
  }
  return looks;
}

std::vector<Look> looks_of(const Result& base, const Result& now) {
  const auto planned = looks_in(base, now);
  if (planned.empty()) return {{.after = std::numeric_limits<int>::max(), .share = 1}};
  const auto launches = base.run.at("ab").value("planned", planned.back());
  auto looks = looks_after(planned, launches);
  const auto end = std::max(most_duets(base), most_duets(now));
  std::erase_if(looks, [&](const Look& look) { return look.after > end; });
  double spent = 0;
  for (const auto& look : looks) spent += look.share;
  if (looks.empty() || (looks.back().after < end && end < launches)) {
    looks.push_back({.after = end, .share = 1 - spent});
  }
  return looks;
}

int planned_duets(const Result& base, const Result& now) {
  const auto planned = looks_in(base, now);
  return planned.empty() ? 0 : base.run.at("ab").value("planned", planned.back());
}

}  // namespace ucxbench
