#include "harness/core/literal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace ucxbench {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;  ///< else it is one byte, which begins no UTF-8
};

Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return {.code = first, .bytes = 1, .valid = true};
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  constexpr std::array<std::uint32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};
  if (first < 0xc2 || first > 0xf4 || bytes > text.size() - at) return {.code = first};
  std::uint32_t code = first & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (byte(i) >> 6U != 2) return {.code = first};
    code = code << 6U | (byte(i) & 0x3fU);
  }
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < least[bytes] || code > 0x10ffff || surrogate) return {.code = first};
  return {.code = code, .bytes = bytes, .valid = true};
}

/// Above ASCII: C1, marks of direction and invisible ones, separators, what XML does not allow.
bool acts(std::uint32_t code) {
  return code < 0xa0 || code == 0x61c || (code >= 0x200b && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
         code == 0xfeff || code == 0xfffe || code == 0xffff;
}

/// Of newlines ("\r\n", too) and tabs nothing is spelt out.
bool is_literal(const Character& of, std::string_view rest) {
  if (!of.valid) return false;
  if (of.code >= 0x7f) return !acts(of.code);
  return of.code >= ' ' || of.code == '\n' || of.code == '\t' || rest.starts_with("\r\n");
}

std::string spelt_out(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto of = character_at(text, at);
    if (is_literal(of, text.substr(at))) {
      out.append(text.substr(at, of.bytes));
    } else if (of.code > 0xff) {
      out += fmt::format("\\u{:04x}", of.code);
    } else {
      out += fmt::format("\\x{:02x}", of.code);
    }
    at += of.bytes;
  }
  return out;
}

std::string with_before(std::string_view text, std::string_view marked, char mark) {
  std::string out;
  for (const char c : text) {
    if (marked.find(c) != std::string_view::npos) out += mark;
    out += c;
  }
  return out;
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

/// "- item", "> quoted", a rule "---": what a line of Markdown may begin with.
bool begins_markup(std::string_view text) {
  if (text.starts_with('>')) return true;
  const bool marks = text.starts_with('-') || text.starts_with('+') || text.starts_with('=');
  return marks && text.size() > 1 && (text[1] == ' ' || text[1] == text[0]);
}

}  // namespace

std::string for_terminal(std::string_view text) { return spelt_out(text); }

std::string on_one_line(std::string_view text) {
  auto line = spelt_out(text);
  std::ranges::replace_if(line, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return line;
}

std::string for_markdown(std::string_view text) {
  auto out = with_before(on_one_line(text), "\\|<*_`[]#~&$", '\\');
  // What GitHub makes a link of, also without markup.
  replace_all(out, "://", "\\://");
  replace_all(out, "www.", "www\\.");
  return begins_markup(out) ? "\\" + out : out;
}

std::string for_csv(std::string_view text) {
  auto out = spelt_out(text);
  if (!out.empty() && std::string_view("=+-@\t\n").find(out.front()) != std::string_view::npos) {
    out.insert(0, 1, '\'');
  }
  if (out.find_first_of(",\"\n") == std::string::npos) return out;
  return '"' + with_before(out, "\"", '"') + '"';
}

std::string for_xml(std::string_view text) {
  auto out = spelt_out(text);
  constexpr std::array<std::array<std::string_view, 2>, 4> entities = {
      {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}}};
  for (const auto& [c, entity] : entities) replace_all(out, c, entity);
  return out;
}

std::string for_label(std::string_view text) {
  auto out = with_before(spelt_out(text), "\\\"", '\\');
  replace_all(out, "\n", "\\n");
  return out;
}

std::string for_shell(std::string_view text) {
  auto out = on_one_line(text);
  replace_all(out, "'", "'\\''");
  return "'" + out + "'";
}

std::string command_line(const std::vector<std::string>& words) {
  constexpr std::string_view plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+:,./";
  std::string line;
  for (const auto& word : words) {
    const bool needs_quotes = word.empty() || word.find_first_not_of(plain) != std::string::npos;
    line += (line.empty() ? "" : " ") + (needs_quotes ? for_shell(word) : word);
  }
  return line;
}

std::string for_yaml(std::string_view text) {
  return '"' + with_before(on_one_line(text), "\\\"", '\\') + '"';
}

std::string for_json_text(std::string json) {
  const auto beyond_ascii = [](char c) { return static_cast<unsigned char>(c) >= 0x7f; };
  if (std::ranges::none_of(json, beyond_ascii)) return json;
  std::string out;
  out.reserve(json.size());
  for (std::size_t at = 0; at < json.size();) {
    const auto of = character_at(json, at);
    if (of.valid && of.code >= 0x7f && acts(of.code)) {
      out += fmt::format("\\u{:04x}", of.code);
    } else {
      out.append(json, at, of.bytes);
    }
    at += of.bytes;
  }
  return out;
}

}  // namespace ucxbench
