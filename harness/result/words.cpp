#include "harness/result/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace ucxbench {
namespace {

std::string scalar_text(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_boolean()) return json.get<bool>() ? "yes" : "no";
  return json_text(json);
}

}  // namespace

std::string significant(const std::optional<double>& value, int digits) {
  if (!value || !std::isfinite(*value)) return "-";
  if (*value == 0) return "0";
  const int exponent = static_cast<int>(std::floor(std::log10(std::abs(*value))));
  return fmt::format("{:.{}f}", *value, std::clamp(digits - 1 - exponent, 0, 9));
}

std::string share_text(double share) {
  return share > 0 && share < 0.01 ? "<1 %" : fmt::format("{:.0f} %", 100 * share);
}

std::string readable_us(double us) {
  if (us < 1) return significant(us * 1e3, 3) + " ns";
  if (us < 1e3) return significant(us, 3) + " us";
  if (us < 1e6) return significant(us / 1e3, 3) + " ms";
  return significant(us / 1e6, 3) + " s";
}

std::string text_at(const Json& json, const std::string& pointer, const std::string& otherwise) {
  const Json::json_pointer path(pointer);
  if (!json.contains(path)) return otherwise;
  const auto parts = texts_of(json.at(path));
  return parts.empty() ? otherwise : join(parts, "+");
}

std::optional<double> number_at(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::vector<std::string> texts_of(const Json& json) {
  if (json.is_null()) return {};
  if (!json.is_array()) return {on_one_line(scalar_text(json))};
  std::vector<std::string> parts;
  for (const auto& value : json) parts.push_back(on_one_line(scalar_text(value)));
  return parts;
}

std::string join(const std::vector<std::string>& parts, const std::string& separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string counted(const std::string& count, const std::string& noun, const std::string& plural) {
  return fmt::format("{} {}", count, count == "1" ? noun : plural.empty() ? noun + "s" : plural);
}

std::string counted(std::size_t count, const std::string& noun, const std::string& plural) {
  return counted(std::to_string(count), noun, plural);
}

bool has_figures(const Result& result) {
  return std::ranges::any_of(result.cases, [](const Case& benchmark_case) {
    return benchmark_case.state == CaseState::measured || benchmark_case.state == CaseState::failed;
  });
}

int threads_in(const Json& parameters) {
  return static_cast<int>(number_at(parameters, "threads").value_or(1));
}

std::string crowded_in_words(const Json& crowded) {
  const auto threads = threads_in(crowded);
  return fmt::format("{} ({}{} on {})", text_at(crowded, "/progress_mode"),
                     counted(text_at(crowded, "/ranks"), "rank"),
                     threads > 1 ? fmt::format(" of {} threads", threads) : "",
                     counted(text_at(crowded, "/cpus"), "CPU"));
}

}  // namespace ucxbench
