#include "harness/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ucxbench {
namespace {

std::string scalar_text(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_boolean()) return json.get<bool>() ? "yes" : "no";
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string significant(const std::optional<double>& value, int digits) {
  if (!value || !std::isfinite(*value)) return "-";
  if (*value == 0) return "0";
  const int exponent = static_cast<int>(std::floor(std::log10(std::abs(*value))));
  return fmt::format("{:.{}f}", *value, std::clamp(digits - 1 - exponent, 0, 9));
}

std::string prefixed(const std::optional<double>& value, int digits) {
  if (!value) return "-";
  double scaled = *value;
  const char* prefix = "";
  for (const char* larger : {"k", "M", "G", "T"}) {
    if (std::abs(scaled) < 1000) break;
    scaled /= 1000;
    prefix = larger;
  }
  return significant(scaled, digits) + prefix;
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

std::string counted(std::size_t count, const std::string& noun, const std::string& plural) {
  if (count == 1) return "1 " + noun;
  return fmt::format("{} {}", count, plural.empty() ? noun + "s" : plural);
}

std::string on_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
  return text;
}

std::string wrapped(const std::string& text, const std::string& indent, std::size_t width) {
  std::string out;
  std::string line = indent;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const auto end = std::min(text.find(' ', begin), text.size());
    const auto word = text.substr(begin, end - begin);
    const bool first = line.size() == indent.size();
    if (!first && line.size() + 1 + word.size() > width) {
      out += line + "\n";
      line = indent + word;
    } else {
      line += (first ? "" : " ") + word;
    }
    begin = end + 1;
  }
  return out + line + "\n";
}

AlignedGrid aligned(const Grid& grid) {
  const auto count = grid.columns.size();
  std::vector<std::size_t> widths(count);
  for (std::size_t c = 0; c < count; ++c) {
    widths[c] = grid.columns[c].name.size();
    for (const auto& row : grid.rows) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string groups;
  bool grouped = false;
  for (std::size_t first = 0, last = 0; first < count; first = last + 1) {
    const auto& group = grid.columns[first].group;
    std::size_t span = widths[first];
    for (last = first; last + 1 < count && grid.columns[last + 1].group == group;) {
      span += 2 + widths[++last];
    }
    if (group.size() > span) widths[last] += group.size() - span;
    groups += fmt::format("  {:^{}}", group, span);
    grouped |= !group.empty();
  }
  groups.erase(groups.find_last_not_of(' ') + 1);
  std::string names;
  for (std::size_t c = 0; c < count; ++c) {
    names += fmt::format("  {:>{}}", grid.columns[c].name, widths[c]);
  }
  AlignedGrid out;
  if (grouped) out.header.push_back(groups);
  out.header.push_back(names);
  for (const auto& row : grid.rows) {
    std::string line;
    for (std::size_t c = 0; c < count; ++c) line += fmt::format("  {:>{}}", row[c], widths[c]);
    out.rows.push_back(line);
  }
  return out;
}

}  // namespace ucxbench
