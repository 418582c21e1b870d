#include "harness/transports/tunables.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

// From the sources of UCX 1.13.1 to 1.22.0: ucp_context.c, tcp_iface.c, tcp_base.h, mm_iface.c,
// ib_iface.c, rc_iface.c, cuda_ipc_iface.c. A new setting is one more line.
constexpr std::array known_tunables = {
    Tunable{"RNDV_SCHEME", "", "", "", "put_zcopy get_zcopy am"},
    Tunable{"RNDV_THRESH", "", "", "", "64k inf 256k 8k 1m"},
    Tunable{"TCP_TX_SEG_SIZE,TCP_RX_SEG_SIZE", "tcp", "", "", "64k,128k 256k,512k"},
    Tunable{"PROTO_ENABLE", "", "", "1.15", "y"},
    Tunable{"PROTO_ENABLE", "", "1.16", "", "n"},
    Tunable{"ZCOPY_THRESH", "", "", "", "16k inf 1k"},
    Tunable{"POSIX_FIFO_SIZE,SYSV_FIFO_SIZE", "shm", "", "", "1024,1024 128,128"},
    Tunable{"POSIX_SEG_SIZE,SYSV_SEG_SIZE", "shm", "", "", "32k,32k 64k,64k"},
    Tunable{"RNDV_FRAG_SIZE", "", "", "", "host:128k host:2m"},
    Tunable{"TCP_SNDBUF,TCP_RCVBUF", "tcp", "", "", "1m,1m"},
    Tunable{"MAX_RNDV_RAILS", "", "", "", "1 4"},
    Tunable{"MAX_EAGER_RAILS", "", "", "", "2"},
    Tunable{"MIN_RNDV_CHUNK_SIZE", "", "1.14", "", "256k"},
    Tunable{"TCP_PUT_ENABLE", "tcp", "", "", "n"},
    Tunable{"TCP_MAX_BW", "tcp", "1.15", "", "auto"},
    Tunable{"POSIX_ERROR_HANDLING,SYSV_ERROR_HANDLING", "shm", "", "", "y,y"},
    Tunable{"ADAPTIVE_PROGRESS", "", "", "", "n"},
    Tunable{"IB_NUM_PATHS", "ib", "", "", "1 2"},
    Tunable{"RC_MAX_RD_ATOMIC", "ib", "", "", "16"},
    Tunable{"CUDA_IPC_ENABLE_GET_ZCOPY", "nvlink", "", "", "on off"},
};

// "1.22.0" → {1, 22}; a missing number is 0.
std::array<int, 2> numbers_of(std::string_view version) {
  std::array<int, 2> numbers{};
  const auto parts = split_text(version, '.');
  for (std::size_t at = 0; at < std::min(parts.size(), numbers.size()); ++at) {
    std::from_chars(parts[at].data(), parts[at].data() + parts[at].size(), numbers.at(at));
  }
  return numbers;
}

bool is_known_to(const Tunable& tunable, std::string_view version) {
  const auto numbers = numbers_of(version);
  return (tunable.first.empty() || numbers >= numbers_of(tunable.first)) &&
         (tunable.last.empty() || numbers <= numbers_of(tunable.last));
}

Variables with_value(const Tunable& tunable, std::string_view value) {
  const auto names = split_text(tunable.settings, ',');
  const auto values = split_text(value, ',');
  Variables settings;
  for (std::size_t at = 0; at < names.size(); ++at) {
    settings.emplace("UCX_" + std::string(names[at]), values.at(at));
  }
  return settings;
}

}  // namespace

std::span<const Tunable> tunables() { return known_tunables; }

std::vector<Variables> tuning_candidates(std::string_view version,
                                         const std::vector<std::string>& transports) {
  const auto in_use = [&](std::string_view transport) {
    return transport.empty() || std::ranges::count(transports, transport) > 0 ||
           std::ranges::count(transports, "auto") > 0;
  };
  std::vector<Variables> candidates;
  for (const auto& tunable : known_tunables) {
    if (!in_use(tunable.transport) || !is_known_to(tunable, version)) continue;
    for (const auto value : split_text(tunable.values, ' ')) {
      candidates.push_back(with_value(tunable, value));
    }
  }
  return candidates;
}

}  // namespace ucxbench
