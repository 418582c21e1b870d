#include "harness/analysis/limits/pick.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t most_choices = 12'870;  ///< 8 of 16
constexpr std::size_t most_in_a_ring = 9;     ///< 8! orders

using Choice = std::vector<std::size_t>;  ///< of GPUs by position, ascending

/// The better, the larger: whether nothing is left out, GB/s that each sends, GB/s of all pairs.
using Score = std::tuple<bool, double, double>;

bool few_choices(std::size_t count, std::size_t of) {
  std::size_t choices = 1;
  for (std::size_t i = 0; i < std::min(count, of - count); ++i) {
    choices = choices * (of - i) / (i + 1);
    if (choices > most_choices) return false;
  }
  return true;
}

/// Sums that differ only by rounding are equal, so that the lowest numbers win.
double to_hundredths(double GBps) { return std::round(GBps * 100) / 100; }

/// Weighs choices by what each flow between two GPUs crosses, which is found once.
class Scales {
 public:
  Scales(const Graph& graph, const std::vector<std::size_t>& gpus)
      : routes_(all_to_all_among(graph, gpus)), count_(gpus.size()) {}

  bool known() const { return !routes_.empty(); }

  Score weigh(const Choice& choice) const {
    Score best{false, 0, 0};
    for (const auto& route : routes_) best = std::max(best, weigh_by(route.limits, choice));
    return best;
  }

  /// GB/s while nothing else is under way; 0 where that is not known.
  double alone(std::size_t from, std::size_t to) const {
    return flow(routes_.front().limits, from, to).alone_GBps.value_or(0);
  }

 private:
  const FlowLimit& flow(const Limits& limits, std::size_t from, std::size_t to) const {
    return limits.flows[from * (count_ - 1) + (to < from ? to : to - 1)];
  }

  Score weigh_by(const Limits& limits, const Choice& choice) const {
    std::vector<double> loads(limits.resources.size());
    bool complete = true;
    double busiest = 0;
    double all_alone = 0;
    for (const auto from : choice) {
      for (const auto to : choice) {
        if (from == to) continue;
        const auto& crossed = flow(limits, from, to);
        complete = complete && crossed.complete;
        all_alone += crossed.alone_GBps.value_or(0);
        for (const auto& [index, part] : crossed.uses) {
          loads[index] += part;
          const auto& capacity = limits.resources[index].GBps;
          if (capacity) busiest = std::max(busiest, loads[index] / *capacity);
        }
      }
    }
    if (busiest == 0) return {false, 0, 0};
    return {complete, to_hundredths(static_cast<double>(choice.size() - 1) / busiest),
            to_hundredths(all_alone)};
  }

  std::vector<AllToAll> routes_;
  std::size_t count_;
};

/// The next one in lexicographic order; false after the last.
bool advance(Choice& choice, std::size_t of) {
  for (auto i = choice.size(); i-- > 0;) {
    if (choice[i] == of - choice.size() + i) continue;
    std::iota(choice.begin() + static_cast<std::ptrdiff_t>(i), choice.end(), choice[i] + 1);
    return true;
  }
  return false;
}

Choice first_choice(std::size_t count) {
  Choice choice(count);
  std::iota(choice.begin(), choice.end(), std::size_t{0});
  return choice;
}

Choice best_of_all(const Scales& scales, std::size_t count, std::size_t of) {
  auto best = first_choice(count);
  auto best_score = scales.weigh(best);
  for (auto choice = best; advance(choice, of);) {
    const auto score = scales.weigh(choice);
    if (score <= best_score) continue;
    best_score = score;
    best = choice;
  }
  return best;
}

Choice best_pair_and_more(const Scales& scales, std::size_t count, std::size_t of) {
  auto choice = best_of_all(scales, 2, of);
  while (choice.size() < count) {
    Choice best;
    Score best_score{false, -1, 0};
    for (std::size_t gpu = 0; gpu < of; ++gpu) {
      if (std::ranges::find(choice, gpu) != choice.end()) continue;
      auto with = choice;
      with.push_back(gpu);
      const auto score = scales.weigh(with);
      if (score <= best_score) continue;
      best_score = score;
      best = with;
    }
    choice = best;
  }
  std::ranges::sort(choice);
  return choice;
}

/// The narrowest link of a ring, then all together.
std::pair<double, double> width_of(const Scales& scales, const Choice& ring) {
  std::pair<double, double> width{scales.alone(ring.back(), ring.front()), 0};
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const auto link = scales.alone(ring[i], ring[(i + 1) % ring.size()]);
    width.first = std::min(width.first, link);
    width.second += link;
  }
  width.second = to_hundredths(width.second);
  return width;
}

Choice widest_ring(const Scales& scales, const Choice& choice) {
  auto best = choice;
  auto best_width = width_of(scales, choice);
  for (auto ring = choice; std::next_permutation(ring.begin() + 1, ring.end());) {
    const auto width = width_of(scales, ring);
    if (width <= best_width) continue;
    best_width = width;
    best = ring;
  }
  return best;
}

/// Always on to the one with the widest link.
Choice greedy_ring(const Scales& scales, Choice choice) {
  for (auto at = choice.begin(); at + 1 < choice.end(); ++at) {
    const auto next = std::max_element(at + 1, choice.end(), [&](auto a, auto b) {
      return scales.alone(*at, a) < scales.alone(*at, b);
    });
    std::rotate(at + 1, next, next + 1);
  }
  return choice;
}

PickedGpus picked(const Graph& graph, const std::vector<std::size_t>& all, const Choice& choice) {
  PickedGpus picked;
  for (const auto position : choice) picked.gpus.push_back(all[position]);
  for (auto& route : all_to_all_among(graph, picked.gpus)) {
    const auto rank = [](const AllToAll& of) {
      return std::pair(of.limits.unknown.empty() && of.per_gpu_GBps > 0, of.per_gpu_GBps);
    };
    if (rank(route) > rank(picked.reach)) picked.reach = std::move(route);
  }
  return picked;
}

}  // namespace

Pick pick_gpus(const Graph& graph, std::size_t count) {
  const auto gpus = graph.of_kind(NodeKind::gpu);
  if (gpus.size() < 2) {
    throw Failure(Exit::usage, "--pick: the topology has no two GPUs to choose from");
  }
  if (count < 2 || count > gpus.size()) {
    throw Failure(Exit::usage, fmt::format("--pick {}: expected 2 to {}, as many GPUs as there are",
                                           count, gpus.size()));
  }
  const Scales scales(graph, gpus);
  if (!scales.known()) {
    throw Failure(Exit::usage,
                  "--pick: the topology has no capacity of any link between GPUs; of nvidia-smi "
                  "topo -m, put what nvidia-smi -L prints before the matrix");
  }
  Pick pick;
  pick.exhaustive = few_choices(count, gpus.size());
  const auto best = pick.exhaustive ? best_of_all(scales, count, gpus.size())
                                    : best_pair_and_more(scales, count, gpus.size());
  pick.best = picked(
      graph, gpus, count <= most_in_a_ring ? widest_ring(scales, best) : greedy_ring(scales, best));
  pick.naive = picked(graph, gpus, first_choice(count));
  return pick;
}

}  // namespace ucxbench
