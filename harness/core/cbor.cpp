#include "harness/core/cbor.hpp"

#include <cstddef>
#include <vector>

#include "harness/core/json_builder.hpp"

namespace ucxbench {
namespace {

/// Walks over items without making anything of them (RFC 8949, 3 and appendix C).
class Walk {
 public:
  explicit Walk(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  /// Whether the bytes are one item whose lengths and levels can be.
  bool is_one_item() {
    do {
      if (!item()) return false;
      while (!levels_.empty() && levels_.back() == 0) leave();
    } while (!levels_.empty());
    return bytes_.empty();
  }

 private:
  static constexpr std::uint64_t until_break = UINT64_MAX;
  static constexpr std::uint8_t break_code = 0xff;

  bool item() {
    if (bytes_.empty()) return false;
    const auto head = take();
    if (head == break_code) {
      if (levels_.empty() || levels_.back() != until_break) return false;
      levels_.back() = 0;
      return true;
    }
    const auto major = head >> 5U;
    const auto info = head & 31U;
    const bool may_be_open = major >= 2 && major <= 5;
    if (info == 31 && may_be_open) return enter(until_break);
    std::uint64_t argument = info;
    if (info > 23) {
      const auto width = std::size_t{1} << (info - 24);
      if (info > 27 || width > bytes_.size()) return false;
      argument = 0;
      for (std::size_t i = 0; i < width; ++i) argument = argument << 8U | take();
    }
    // An item is a byte at least, and a pair two.
    const bool fits = argument <= bytes_.size();
    switch (major) {
      case 2:
      case 3:
        if (fits) bytes_ = bytes_.subspan(argument);
        return fits && count();
      case 4:
        return fits && enter(argument);
      case 5:
        return fits && enter(2 * argument);
      case 6:
        return false;  // tags: we send none
      default:
        return count();
    }
  }

  std::uint8_t take() {
    const auto byte = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return byte;
  }

  // One item less is missing where it stands.
  bool count() {
    if (!levels_.empty() && levels_.back() != until_break) --levels_.back();
    return true;
  }

  bool enter(std::uint64_t items) {
    levels_.push_back(items);
    return levels_.size() <= most_json_levels;
  }

  void leave() {
    levels_.pop_back();
    count();
  }

  std::span<const std::uint8_t> bytes_;
  std::vector<std::uint64_t> levels_;  ///< items that are missing
};

template <typename Value>
std::optional<Value> value_from(std::span<const std::uint8_t> bytes) {
  if (!Walk(bytes).is_one_item()) return std::nullopt;
  JsonBuilder<Value> builder;
  try {
    Value::sax_parse(bytes.begin(), bytes.end(), &builder, Value::input_format_t::cbor);
  } catch (const BadJson&) {
    return std::nullopt;
  }
  return builder.take();
}

}  // namespace

std::optional<nlohmann::json> from_cbor(std::span<const std::uint8_t> bytes) {
  return value_from<nlohmann::json>(bytes);
}

std::optional<Json> json_from_cbor(std::span<const std::uint8_t> bytes) {
  return value_from<Json>(bytes);
}

}  // namespace ucxbench
