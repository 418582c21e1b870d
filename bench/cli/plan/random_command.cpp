#include "bench/cli/plan/random_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string_view>
#include <vector>

#include "harness/run/benchmark.hpp"

namespace ucxbench {
namespace {

// Of what decides how long a command takes: more than this is for other measurements. What is a
// number and not here stays as it is by default.
const std::map<std::string_view, std::uint64_t> most_of_option = {
    {"sizes", std::uint64_t{4} << 20U},
    {"window", 64},
    {"iterations", 60},
    {"warmup-runs", 2},
    {"runs", 2},
    {"rows", 50'000},
    {"size", 300},
    {"chunk-size", 100},
    {"steps", 20},
    {"payload-columns", 4},
    {"batches", 8},
    {"descriptors", 2000},
    {"block", std::uint64_t{64} << 10U},
    {"sessions", 2},
    {"rounds", 2},
};
// Mistakes on purpose, and loads that take minutes.
constexpr std::array<std::string_view, 2> left_alone{"inject", "scaling"};
constexpr std::array<std::string_view, 4> drawn_transports{"tcp", "shm", "tcp,shm", "auto"};
// Host memory is what every machine has.
constexpr std::array<std::string_view, 9> drawn_memory{"host", "host",   "host", "host",   "host",
                                                       "host", "pinned", "cuda", "managed"};

class Draw {
 public:
  Draw(std::uint64_t seed, std::uint64_t round, std::uint64_t attempt) {
    std::seed_seq numbers{seed >> 32U, seed & UINT32_MAX, round, attempt};
    generator_.seed(numbers);
  }

  /// Of 0 … count - 1. Not by a distribution of the library, which another one would have
  /// otherwise.
  std::uint64_t below(std::uint64_t count) { return generator_() % count; }

  template <typename Choices>
  auto one_of(const Choices& choices) {
    return choices[below(choices.size())];
  }

  /// As many of them small as large.
  std::uint64_t number(std::uint64_t least, std::uint64_t largest) {
    const double part = static_cast<double>(below(1U << 20U)) / (1U << 20U);
    const double ratio = static_cast<double>(largest + 1) / static_cast<double>(least);
    return static_cast<std::uint64_t>(static_cast<double>(least) * std::pow(ratio, part));
  }

 private:
  std::mt19937_64 generator_;
};

std::string drawn_value(const Field& field, Draw& draw) {
  switch (field.type) {
    case FieldType::choice:
      return draw.one_of(field.choices);
    case FieldType::number:
    case FieldType::count:
    case FieldType::size: {
      const auto least = static_cast<std::uint64_t>(std::max(1.0, field.least.value_or(1)));
      return std::to_string(draw.number(least, std::max(least, most_of_option.at(field.name))));
    }
    default:
      return "";
  }
}

bool can_be_drawn(const Field& field) {
  if (!field.asked || std::ranges::find(left_alone, field.name) != left_alone.end()) return false;
  return field.type == FieldType::flag || field.type == FieldType::choice ||
         most_of_option.contains(field.name);
}

}  // namespace

std::string RandomCommand::args(int times) const {
  auto text = benchmark;
  for (const auto& [name, value] : options) {
    text += fmt::format(" --{}", name);
    if (name == amount) {
      text += fmt::format(" {}", std::stoull(value) * static_cast<unsigned>(times));
    } else if (!value.empty()) {
      text += fmt::format(" {}", value);
    }
  }
  return text;
}

RandomCommand random_command(std::uint64_t seed, std::uint64_t round, std::uint64_t attempt) {
  Draw draw(seed, round, attempt);
  std::vector<const Benchmark*> from;
  for (const auto& known : benchmarks()) {
    if (!known.parameters.ranks) from.push_back(&known);  // needs no file
  }
  const auto& benchmark = *draw.one_of(from);
  RandomCommand command{.benchmark = benchmark.name, .options = {}, .amount = "runs"};
  for (const auto& field : benchmark.parameters.fields) {
    if (!can_be_drawn(field)) continue;
    if (field.name == "iterations" || field.name == "rounds") command.amount = field.name;
    // What would take its time by default is always said.
    const bool needed = most_of_option.contains(field.name) && field.name != "window";
    const bool chosen = draw.below(3) == 0;
    auto drawn = drawn_value(field, draw);
    if (needed || chosen) command.options[field.name] = std::move(drawn);
  }
  const auto ranks = std::to_string(2 * (1 + draw.below(2)));
  if (benchmark.parameters.find("ranks")->asked) command.options["ranks"] = ranks;
  command.options["transports"] = draw.one_of(drawn_transports);
  command.options["memory"] = draw.one_of(drawn_memory);
  return command;
}

}  // namespace ucxbench
