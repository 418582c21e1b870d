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
      return std::to_string(draw.number(least, std::max(least, *field.most_drawn)));
    }
    default:
      return "";
  }
}

bool can_be_drawn(const Field& field) {
  if (!field.asked || std::ranges::find(left_alone, field.name) != left_alone.end()) return false;
  return field.type == FieldType::flag || field.type == FieldType::choice || field.most_drawn;
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
    const bool chosen = draw.below(3) == 0;
    auto drawn = drawn_value(field, draw);
    // Whatever is drawn is verified.
    if (field.name == "check" && drawn == "off") drawn = "full";
    // What might take its time by default is always said.
    if (field.most_drawn || chosen) command.options[field.name] = std::move(drawn);
  }
  const auto ranks = std::to_string(2 * (1 + draw.below(2)));
  if (benchmark.parameters.find("ranks")->asked) command.options["ranks"] = ranks;
  command.options["transports"] = draw.one_of(drawn_transports);
  command.options["memory"] = draw.one_of(drawn_memory);
  return command;
}

}  // namespace ucxbench
