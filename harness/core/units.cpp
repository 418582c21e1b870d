#include "harness/core/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "harness/core/failure.hpp"
#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

[[noreturn]] void refuse(std::string_view what, std::string_view text, std::string_view right) {
  throw Failure(Exit::usage, fmt::format("{} '{}': expected {}", what, text, right));
}

struct Scaled {
  double value;
  std::string_view unit;
};

// A plain decimal number and whatever follows it; `ok` is false when there is no number.
bool scan(std::string_view text, Scaled& scaled) {
  text = trim_text(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), scaled.value,
                                            std::chars_format::fixed);
  if (error != std::errc{}) return false;
  scaled.unit = trim_text(text.substr(static_cast<std::size_t>(end - text.data())));
  return std::isfinite(scaled.value) && scaled.value >= 0;
}

constexpr std::string_view size_form = "a size such as 8, 64KiB, 64K (the same) or 10MB (10^7 B)";

bool same_letters(std::string_view one, std::string_view other) {
  return lower_case(one) == lower_case(other);
}

// Like parse_size, but zero is allowed: the start and the step of a range.
std::uint64_t size_or_zero(std::string_view text) {
  struct Unit {
    std::string_view name;
    double bytes;
  };
  constexpr double kib = 1024.0;
  static constexpr std::array<Unit, 14> units = {{{"", 1},
                                                  {"B", 1},
                                                  {"K", kib},
                                                  {"KiB", kib},
                                                  {"M", kib * kib},
                                                  {"MiB", kib * kib},
                                                  {"G", kib * kib * kib},
                                                  {"GiB", kib * kib * kib},
                                                  {"T", kib * kib * kib * kib},
                                                  {"TiB", kib * kib * kib * kib},
                                                  {"KB", 1e3},
                                                  {"MB", 1e6},
                                                  {"GB", 1e9},
                                                  {"TB", 1e12}}};
  Scaled scaled{};
  if (!scan(text, scaled)) refuse("size", text, size_form);
  const auto unit = std::ranges::find_if(
      units, [&](const Unit& known) { return same_letters(known.name, scaled.unit); });
  if (unit == units.end()) refuse("size", text, size_form);
  const double bytes = scaled.value * unit->bytes;
  if (bytes > 0x1p62 || bytes != std::floor(bytes)) {
    refuse("size", text, "a whole number of bytes below 4 EiB");
  }
  return static_cast<std::uint64_t>(bytes);
}

void expand_range(std::string_view text, std::vector<std::uint64_t>& sizes) {
  constexpr std::size_t most = 4096;
  const auto parts = split_text(text, ':');
  if (parts.size() > 3) refuse("sizes", text, "MIN:MAX, MIN:MAX:xFACTOR or MIN:MAX:+STEP");
  const auto low = size_or_zero(parts[0]);
  const auto high = parse_size(parts[1]);
  const std::string_view step = parts.size() == 3 ? parts[2] : "x2";
  if (low > high) {
    refuse("sizes", text, fmt::format("the smaller size first, {}:{}", parts[1], parts[0]));
  }
  if (step.starts_with('x')) {
    Scaled factor{};
    if (!scan(step.substr(1), factor) || !factor.unit.empty() || factor.value <= 1.0) {
      refuse("sizes", text, "a factor above 1, as in 8:64MiB:x2");
    }
    if (low == 0) refuse("sizes", text, "a first size of at least 1 byte");
    auto size = static_cast<double>(low);
    while (size <= static_cast<double>(high) && sizes.size() < most) {
      const auto whole = static_cast<std::uint64_t>(std::llround(size));
      sizes.push_back(whole);
      // A factor near 1 must still move on.
      size = std::max(size * factor.value, static_cast<double>(whole + 1));
    }
  } else if (step.starts_with('+')) {
    const auto add = parse_size(step.substr(1));
    for (auto size = low; size <= high && sizes.size() < most; size += add) {
      if (size > 0) sizes.push_back(size);
    }
  } else {
    refuse("sizes", text, "a step of xFACTOR or +SIZE, as in 8:64MiB:x2");
  }
  if (sizes.size() >= most) refuse("sizes", text, "a range of fewer than 4096 sizes");
}

constexpr std::array<std::pair<std::string_view, std::uint64_t>, 4> count_letters = {
    {{"G", 1'000'000'000}, {"M", 1'000'000}, {"K", 1'000}, {"", 1}}};

}  // namespace

std::uint64_t parse_count(std::string_view text) {
  constexpr std::string_view form = "a count such as 1000, 10K (10 000), 2.5M or 1G";
  Scaled scaled{};
  if (!scan(text, scaled)) refuse("count", text, form);
  const auto letter = std::ranges::find_if(
      count_letters, [&](const auto& known) { return same_letters(known.first, scaled.unit); });
  if (letter == count_letters.end()) refuse("count", text, form);
  const auto count = scaled.value * static_cast<double>(letter->second);
  if (count < 1 || count > 0x1p53 || count != std::floor(count)) {
    refuse("count", text, "a whole number from 1 to 2^53");
  }
  return static_cast<std::uint64_t>(count);
}

std::string exact_count(std::uint64_t count) {
  for (const auto& [letter, factor] : count_letters) {
    if (count % factor == 0) return fmt::format("{}{}", count / factor, letter);
  }
  return "0";
}

std::uint64_t parse_size(std::string_view text) {
  const auto bytes = size_or_zero(text);
  if (bytes == 0) refuse("size", text, "at least 1 byte");
  return bytes;
}

std::vector<std::uint64_t> parse_sizes(std::string_view text) {
  std::vector<std::uint64_t> sizes;
  for (const auto part : split_text(text, ',')) {
    if (part.find(':') == std::string_view::npos) {
      sizes.push_back(parse_size(part));
    } else {
      expand_range(part, sizes);
    }
  }
  std::set<std::uint64_t> seen;
  std::erase_if(sizes, [&](std::uint64_t size) { return !seen.insert(size).second; });
  return sizes;
}

std::string spaced_size(std::uint64_t bytes) {
  constexpr std::array<std::pair<int, const char*>, 4> units = {
      {{40, "TiB"}, {30, "GiB"}, {20, "MiB"}, {10, "KiB"}}};
  for (const auto& [shift, name] : units) {
    if (bytes != 0 && (bytes & ((std::uint64_t{1} << shift) - 1)) == 0) {
      return fmt::format("{} {}", bytes >> shift, name);
    }
  }
  return fmt::format("{} B", bytes);
}

std::string rough_size(std::uint64_t bytes) {
  constexpr std::array<std::pair<int, const char*>, 4> units = {
      {{40, "TiB"}, {30, "GiB"}, {20, "MiB"}, {10, "KiB"}}};
  for (const auto& [shift, name] : units) {
    const auto whole = bytes >> shift;
    if (whole == 0) continue;
    const auto tenths = (bytes - (whole << shift)) * 10 >> shift;
    return whole >= 10 || tenths == 0 ? fmt::format("{} {}", whole, name)
                                      : fmt::format("{}.{} {}", whole, tenths, name);
  }
  return fmt::format("{} B", bytes);
}

std::string exact_size(std::uint64_t bytes) {
  auto text = spaced_size(bytes);
  std::erase(text, ' ');
  return text;
}

std::chrono::nanoseconds parse_duration(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 8> units = {{{"ns", 1},
                                                                                {"us", 1e3},
                                                                                {"ms", 1e6},
                                                                                {"s", 1e9},
                                                                                {"", 1e9},
                                                                                {"m", 60e9},
                                                                                {"min", 60e9},
                                                                                {"h", 3600e9}}};
  constexpr double most_ns = 30.0 * 24 * 3600e9;
  Scaled scaled{};
  const auto unit =
      scan(text, scaled)
          ? std::find_if(units.begin(), units.end(),
                         [&](const auto& known) { return known.first == scaled.unit; })
          : units.end();
  if (unit == units.end()) refuse("duration", text, "a time such as 100us, 250ms, 1.5s or 2m");
  const double ns = scaled.value * unit->second;
  if (ns < 1 || ns > most_ns) refuse("duration", text, "more than 0 and at most 720h");
  return std::chrono::nanoseconds(std::llround(ns));
}

std::string format_duration(std::chrono::nanoseconds duration) {
  const auto ns = static_cast<double>(duration.count());
  if (ns >= 1e9) return fmt::format("{}s", ns / 1e9);
  if (ns >= 1e6) return fmt::format("{}ms", ns / 1e6);
  if (ns >= 1e3) return fmt::format("{}us", ns / 1e3);
  return fmt::format("{}ns", ns);
}

std::vector<int> parse_list(std::string_view text) {
  auto number = [&](std::string_view part) {
    int value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc{} || end != part.data() + part.size() || value < 0 || value > 65535) {
      refuse("list", text, "numbers and ranges such as 0-3,7");
    }
    return value;
  };
  constexpr std::size_t most_numbers = 65536;
  std::vector<int> numbers;
  for (const auto part : split_text(text, ',')) {
    const auto dash = part.find('-');
    const int first = number(part.substr(0, dash));
    const int last = dash == std::string_view::npos ? first : number(part.substr(dash + 1));
    if (last < first) refuse("list", text, "ranges with the smaller number first, as in 0-3,7");
    for (int n = first; n <= last; ++n) numbers.push_back(n);
    if (numbers.size() > most_numbers) refuse("list", text, "at most 65536 numbers");
  }
  return numbers;
}

std::string format_list(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t j = i;
    while (j + 1 < numbers.size() && numbers[j + 1] == numbers[j] + 1) ++j;
    if (!text.empty()) text += ',';
    text += j == i ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[j]);
    i = j + 1;
  }
  return text;
}

}  // namespace ucxbench
