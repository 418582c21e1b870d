#include "harness/analysis/sweep/outliers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>
#include <utility>

namespace ucxbench {
namespace {

/// What was planted, or named: "sends 3", "receives 3", "link 1->2".
using Culprits = std::set<std::string>;

std::string link_name(std::size_t from, std::size_t to) {
  return "link " + std::to_string(from) + "->" + std::to_string(to);
}

/// Hosts whose NICs have a rate each way; a pair has the lower of its two, or its link's.
class Planted {
 public:
  Planted(std::size_t hosts, double noise, unsigned seed)
      : sends_(hosts, 10), receives_(hosts, 10), noise_(noise), random_(seed) {}

  void slow_to_send(std::size_t host, double rate) {
    sends_[host] = rate;
    culprits.insert("sends " + std::to_string(host));
  }
  void slow_to_receive(std::size_t host, double rate) {
    receives_[host] = rate;
    culprits.insert("receives " + std::to_string(host));
  }
  void slow_host(std::size_t host, double rate) {
    slow_to_send(host, rate);
    slow_to_receive(host, rate);
  }
  void slow_link(std::size_t from, std::size_t to, double rate) {
    links_.push_back({from, to, rate});
    culprits.insert(link_name(from, to));
  }

  RateTable rates() {
    std::normal_distribution<double> noise(0, noise_);
    RateTable table(sends_.size());
    for (std::size_t from = 0; from < sends_.size(); ++from) {
      for (std::size_t to = 0; to < sends_.size(); ++to) {
        if (from == to) continue;
        auto rate = std::min(sends_[from], receives_[to]);
        for (const auto& slow : links_) {
          if (slow.from == from && slow.to == to) rate = std::min(rate, slow.rate);
        }
        table.at(from, to) = rate * std::exp(noise(random_));
      }
    }
    return table;
  }
  std::size_t drawn_host() {
    return std::uniform_int_distribution<std::size_t>(0, sends_.size() - 1)(random_);
  }

  Culprits culprits;

 private:
  struct Link {
    std::size_t from, to;
    double rate;
  };
  std::vector<double> sends_, receives_;
  std::vector<Link> links_;
  double noise_;
  std::mt19937 random_;
};

Culprits culprits_of(const Outliers& found) {
  Culprits culprits;
  for (std::size_t host = 0; host < found.sends.size(); ++host) {
    if (found.sends[host].slow) culprits.insert("sends " + std::to_string(host));
    if (found.receives[host].slow) culprits.insert("receives " + std::to_string(host));
  }
  for (const auto& slow : found.links) culprits.insert(link_name(slow.from, slow.to));
  return culprits;
}

void expect_named(Planted& planted, const std::string& what, double noise = 0) {
  EXPECT_EQ(culprits_of(find_outliers(planted.rates(), noise)), planted.culprits) << what;
}

constexpr std::size_t most_hosts = 16;
constexpr unsigned draws = 5;

/// For every number of hosts, some draws, without noise and with as much as rates have.
template <typename Test>
void for_each(std::size_t least_hosts, Test test) {
  for (std::size_t hosts = least_hosts; hosts <= most_hosts; ++hosts) {
    for (unsigned draw = 0; draw < draws; ++draw) {
      for (const double noise : {0.0, 0.02, 0.05}) {
        Planted planted(hosts, noise, draw);
        test(planted);
        expect_named(planted,
                     std::to_string(hosts) + " hosts, draw " + std::to_string(draw) + ", noise " +
                         std::to_string(noise),
                     noise);
      }
    }
  }
}

TEST(Outliers, OfGoodHostsThereAreNone) {
  for_each(3, [](Planted&) {});
}

TEST(Outliers, ASlowHostIsNamedAndNotThoseThatItMeets) {
  for_each(3, [](Planted& planted) { planted.slow_host(planted.drawn_host(), 4); });
}

TEST(Outliers, AHostMayBeSlowOneWay) {
  for_each(3, [](Planted& planted) { planted.slow_to_send(planted.drawn_host(), 5); });
  for_each(3, [](Planted& planted) { planted.slow_to_receive(planted.drawn_host(), 5); });
}

TEST(Outliers, ASlowLinkIsNamedAndNotItsHosts) {
  const auto drawn_link = [](Planted& planted, bool both) {
    const auto from = planted.drawn_host();
    auto to = planted.drawn_host();
    while (to == from) to = planted.drawn_host();
    planted.slow_link(from, to, 4);
    if (both) planted.slow_link(to, from, 4);
  };
  for_each(3, [&](Planted& planted) { drawn_link(planted, true); });
  for_each(3, [&](Planted& planted) { drawn_link(planted, false); });
}

TEST(Outliers, SeveralAreAllNamed) {
  // A slow host, and a link between two others.
  for_each(5, [](Planted& planted) {
    planted.slow_host(0, 3);
    planted.slow_link(1, 2, 4);
    planted.slow_link(2, 1, 4);
  });
  // Hosts of different rates, and one that only receives slowly.
  for_each(8, [](Planted& planted) {
    planted.slow_host(5, 3);
    planted.slow_host(2, 6);
    planted.slow_to_receive(7, 4);
  });
  // Links of one host, fewer than half of those that it has.
  for_each(8, [](Planted& planted) {
    for (const std::size_t to : {1, 4, 6}) planted.slow_link(3, to, 5);
  });
  // A slow host's link that is slower than the host.
  for_each(6, [](Planted& planted) {
    planted.slow_host(1, 6);
    planted.slow_link(1, 3, 2);
  });
}

TEST(Outliers, WhatIsAlmostAsFastIsNone) {
  for (std::size_t hosts = 3; hosts <= most_hosts; ++hosts) {
    Planted planted(hosts, 0, 0);
    planted.slow_host(1, 8.5);
    planted.culprits.clear();
    expect_named(planted, std::to_string(hosts));
  }
}

TEST(Outliers, WhereAllScatterFewAreNamed) {
  for (const std::size_t hosts : {3, 5, 8, 16}) {
    for (const double noise : {0.1, 0.3}) {
      int wrong = 0;
      for (unsigned draw = 0; draw < 100; ++draw) {
        Planted planted(hosts, noise, draw);
        wrong += culprits_of(find_outliers(planted.rates(), noise)).empty() ? 0 : 1;
      }
      EXPECT_LE(wrong, 2) << hosts << " hosts, noise " << noise;
    }
  }
}

TEST(Outliers, OfTwoHostsNobodyCanSay) {
  Planted planted(2, 0, 0);
  planted.slow_host(0, 1);
  planted.culprits.clear();
  expect_named(planted, "two");
}

TEST(Outliers, WhatWasNotMeasuredIsLeftOut) {
  Planted planted(5, 0, 0);
  planted.slow_host(4, 3);
  auto rates = planted.rates();
  rates.at(0, 4) = rates.at(2, 3) = std::nan("");
  EXPECT_EQ(culprits_of(find_outliers(rates)), planted.culprits);
  const auto nothing = find_outliers(RateTable(4));
  EXPECT_EQ(culprits_of(nothing), Culprits());
  EXPECT_FALSE(nothing.sends.front().known);
}

TEST(Outliers, SayHowFarTheyAre) {
  Planted planted(5, 0, 0);
  planted.slow_host(2, 5);
  planted.slow_link(0, 1, 2);
  const auto found = find_outliers(planted.rates());
  EXPECT_NEAR(found.sends[2].of_median, 0.5, 1e-9);
  // The others are equal: log 0.5 in steps of 2 %.
  EXPECT_NEAR(found.sends[2].z, std::log(0.5) / least_scatter, 1e-9);
  EXPECT_NEAR(found.sends[1].of_median, 1, 1e-9);
  ASSERT_EQ(found.links.size(), 1U);
  EXPECT_NEAR(found.links.front().of_expected, 0.2, 1e-9);
}

}  // namespace
}  // namespace ucxbench
