#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ucxbench {

/// "8", "64KiB", "64K", "1.5MiB", "10 MB": bytes. K/KiB, M/MiB, G/GiB, T/TiB are powers of 1024;
/// KB, MB, GB, TB powers of 1000. Throws Failure(Exit::usage) for anything else, for zero, and
/// beyond 2^62.
std::uint64_t parse_size(std::string_view text);

/// A list of sizes and ranges: "8,1KiB", "8:64MiB:x2" (geometric, the default factor is 2),
/// "0K:1M:+64K" (arithmetic). Both ends are included when the step meets them. Ascending as
/// written, duplicates dropped. Throws Failure(Exit::usage) for a reversed or endless range.
std::vector<std::uint64_t> parse_sizes(std::string_view text);

/// The largest unit that divides: 1048576 → "1MiB", 1000 → "1000B". Keys use this.
std::string exact_size(std::uint64_t bytes);

/// The same with a space, for people: "1 MiB".
std::string spaced_size(std::uint64_t bytes);

/// About as much, never more: "512 KiB", "1.4 MiB", "37 GiB".
std::string rough_size(std::uint64_t bytes);

/// "1000000", "1M", "2.5K", "4G": a count, the letters being powers of 1000. Throws
/// Failure(Exit::usage) for anything else, for zero, and beyond 2^53.
std::uint64_t parse_count(std::string_view text);

/// The largest letter that divides: 10000000 → "10M", 1500 → "1500".
std::string exact_count(std::uint64_t count);

/// "250ms", "1.5s", "100us", "2m", "10min", "1h", a bare number is seconds. Positive, at most 30
/// days; throws Failure(Exit::usage).
std::chrono::nanoseconds parse_duration(std::string_view text);

/// "100us", "1.5s": parse_duration(format_duration(d)) == d for whole microseconds.
std::string format_duration(std::chrono::nanoseconds duration);

/// "0-3,7" → {0,1,2,3,7}: at most 65536 numbers below 65536. Throws Failure(Exit::usage).
std::vector<int> parse_list(std::string_view text);

/// {0,1,2,3,7} → "0-3,7".
std::string format_list(const std::vector<int>& numbers);

}  // namespace ucxbench
