#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace ucxbench {

// Of connections whose clients have not proved yet that they belong to the run there may be a few
// only, and those of one source leave room for others.

inline constexpr std::size_t most_strangers_of_a_source = 64;
inline constexpr std::size_t most_strangers = 256;

/// From where a connected socket's peer speaks: an IPv4 address, a /64 of IPv6, or "" for others.
std::string source_of(int fd);

/// Which one to close, by the sources of those that are open, the oldest first; empty: none. So
/// many as are `wanted` may be open beside the strangers, for all of them may come at once.
std::optional<std::size_t> one_too_many(const std::vector<std::string>& sources,
                                        std::size_t wanted);

/// Closes that one, of connections that have a `source`.
template <typename Connections>
void drop_one_too_many(Connections& open, std::size_t wanted) {
  std::vector<std::string> sources;
  for (const auto& each : open) sources.push_back(each.source);
  if (const auto which = one_too_many(sources, wanted)) {
    open.erase(std::next(open.begin(), static_cast<std::ptrdiff_t>(*which)));
  }
}

}  // namespace ucxbench
