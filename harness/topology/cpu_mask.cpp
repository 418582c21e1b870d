#include "harness/topology/cpu_mask.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "harness/core/text.hpp"

namespace ucxbench {

std::optional<std::vector<int>> parse_cpu_mask(std::string_view text) {
  constexpr std::size_t most_words = 1024;
  constexpr int word_bits = 32;
  constexpr std::size_t word_length = std::string_view("0x00000000,").size();
  if (trim_text(text).empty() || text.size() > most_words * word_length) return std::nullopt;
  auto words = split_text(text, ',');
  if (words.size() > most_words) return std::nullopt;
  std::reverse(words.begin(), words.end());
  std::vector<int> cpus;
  int first = 0;
  for (auto word : words) {
    std::uint32_t bits = 0;
    if (word.starts_with("0x")) word.remove_prefix(2);
    const auto* end = word.data() + word.size();
    const auto [rest, error] = std::from_chars(word.data(), end, bits, 16);
    if (!word.empty() && (error != std::errc{} || rest != end)) return std::nullopt;
    for (int bit = 0; bit < word_bits; ++bit) {
      if ((bits >> bit & 1U) != 0) cpus.push_back(first + bit);
    }
    first += word_bits;
  }
  return cpus;
}

bool is_part_of(const std::vector<int>& part, const std::vector<int>& whole) {
  return !part.empty() && std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

}  // namespace ucxbench
