#include <algorithm>
#include <cstddef>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "harness/result/result.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t line_width = 100;  ///< an object longer than this is spread over lines
/// A list longer than this, as of many pairs, is for no person: an entry is one line, which is half
/// as many bytes.
constexpr std::size_t most_spread = 1000;
constexpr std::size_t worth_a_thread = 10'000;  ///< entries of a list

/// A container of plain values on one line, with a space after each comma and colon.
std::string one_line(const Json& json) {
  std::string text(1, json.is_array() ? '[' : '{');
  const char* separator = "";
  for (const auto& [key, value] : json.items()) {
    text += separator;
    if (json.is_object()) text += json_text(Json(key)) + ": ";
    text += json_text(value);
    separator = ", ";
  }
  return text + (json.is_array() ? ']' : '}');
}

void append_text(std::string& out, const Json& json, std::size_t indent);

/// A list that is spread over lines; `entry` makes the one of a number. A long one is made by all
/// processors: that of hundreds of ranks is most of what their supervisor does at the end.
template <typename Entry>
void append_list(std::string& out, std::size_t size, std::size_t indent, Entry entry) {
  const std::string begin = "\n" + std::string(indent + 2, ' ');
  const auto part = [&](std::size_t at, std::size_t end) {
    std::string text;
    for (; at < end; ++at) {
      text += (at > 0 ? "," : "") + begin;
      if (size > most_spread) {
        text += json_text(entry(at));
      } else {
        append_text(text, entry(at), indent + 2);
      }
    }
    return text;
  };
  const auto threads =
      std::clamp<std::size_t>(size / worth_a_thread, 1, std::thread::hardware_concurrency() + 1);
  out += '[';
  std::vector<std::future<std::string>> others;
  for (std::size_t i = 1; i < threads; ++i) {
    others.push_back(
        std::async(std::launch::async, part, i * size / threads, (i + 1) * size / threads));
  }
  out += part(0, size / threads);
  for (auto& other : others) out += other.get();
  out += "\n" + std::string(indent, ' ') + ']';
}

/// An object that is spread over lines; `append` writes the value of a member.
template <typename Append>
void append_object(std::string& out, const Json& json, std::size_t indent, Append append) {
  const std::string begin = "\n" + std::string(indent + 2, ' ');
  const char* separator = "";
  out += '{';
  for (const auto& [key, value] : json.items()) {
    out += separator + begin + json_text(Json(key)) + ": ";
    append(key, value);
    separator = ",";
  }
  out += "\n" + std::string(indent, ' ') + '}';
}

void append_text(std::string& out, const Json& json, std::size_t indent) {
  if (!json.is_structured()) {
    out += json_text(json);
    return;
  }
  if (std::none_of(json.begin(), json.end(),
                   [](const Json& value) { return value.is_structured() && !value.empty(); })) {
    const auto line = one_line(json);
    if (json.is_array() || indent + line.size() <= line_width) {
      out += line;
      return;
    }
  }
  if (json.is_array()) {
    append_list(out, json.size(), indent, [&](std::size_t at) -> const Json& { return json[at]; });
  } else {
    append_object(out, json, indent, [&](const std::string&, const Json& value) {
      append_text(out, value, indent + 2);
    });
  }
}

constexpr std::size_t case_indent = 4;

std::vector<std::string> launch_texts(const Result& result) {
  std::vector<std::string> texts(result.cases.size());
  for (std::size_t at = 0; at < texts.size(); ++at) {
    const auto& launches = result.cases[at].launches;
    if (launches.empty()) continue;
    append_list(texts[at], launches.size(), case_indent + 2,
                [&](std::size_t number) { return launch_to_json(launches[number]); });
  }
  return texts;
}

void append_case(std::string& out, const Json& head, const std::string& launches) {
  append_object(out, head, case_indent, [&](const std::string& key, const Json& value) {
    if (key != "launches" || launches.empty()) return append_text(out, value, case_indent + 2);
    out += launches;
  });
}

}  // namespace

std::string to_text(const Json& json) {
  std::string text;
  append_text(text, json, 0);
  return text + "\n";
}

LaunchTexts begin_launch_texts(const Result& result) {
  std::size_t launches = 0;
  for (const auto& of : result.cases) launches += of.launches.size();
  return std::async(launches < worth_a_thread ? std::launch::deferred : std::launch::async,
                    [&result] { return launch_texts(result); });
}

std::string run_text(const Result& result) { return run_text(result, begin_launch_texts(result)); }

// The launches of hundreds of ranks are most of it: each is JSON only while it is written.
std::string run_text(const Result& result, LaunchTexts launches) {
  if (result.cases.empty() || result.cases.size() > most_spread) return to_text(to_json(result));
  const auto texts = launches.get();
  const auto head = without_launches(result);
  std::string text;
  append_object(text, head, 0, [&](const std::string& key, const Json& value) {
    if (key != "cases") return append_text(text, value, 2);
    text += '[';
    for (std::size_t at = 0; at < result.cases.size(); ++at) {
      text += at > 0 ? ",\n    " : "\n    ";
      append_case(text, value[at], texts[at]);
    }
    text += "\n  ]";
  });
  return text + "\n";
}

}  // namespace ucxbench
