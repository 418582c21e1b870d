#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace ucxbench {

/// Parts between separators, without the blanks around them: "a, b" → {"a", "b"}. They are views
/// into the text, so a string that ends with the call is refused by the compiler.
std::vector<std::string_view> split_text(std::string_view text, char separator);
template <std::same_as<std::string> Ends>
std::vector<std::string_view> split_text(const Ends&& text, char separator) = delete;

/// A view of the text without blanks at both ends, likewise.
std::string_view trim_text(std::string_view text);
template <std::same_as<std::string> Ends>
std::string_view trim_text(const Ends&& text) = delete;

/// From 0 to 9, of ASCII.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The number that the whole of `text` is, without blanks or a plus sign; empty where it is none.
template <typename Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

/// Two hexadecimal digits for each byte.
std::string hex_text(std::span<const std::uint8_t> bytes);

/// Its ASCII letters in lower case.
std::string lower_case(std::string_view text);

/// "did you mean 'nvlink'?", or empty where none is near.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& known);

/// "unknown transport 'nvlnik': did you mean 'nvlink'? known: …"; of many names only the nearest.
std::string unknown_name(std::string_view what, std::string_view given,
                         const std::vector<std::string>& known);

}  // namespace ucxbench
