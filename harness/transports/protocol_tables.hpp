#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ucxbench {

/// One row of the tables that UCX 1.21 and newer print when a worker ends (UCX_PROTO_INFO=used).
struct ProtocolUse {
  std::string operation;  ///< "tagged message by ucp_tag_send*(multi) from host memory"
  std::string range;      ///< of sizes, "256K..inf"
  std::string protocol;   ///< "rendezvous zero-copy flushed write to remote"
  std::string device;   ///< "tcp/lo", "52% on tcp/lo and 48% on tcp/eth0"; "" where none is needed
  std::uint64_t count;  ///< how often UCX began it: a piece of a large message counts by itself
};

struct ProtocolTables {
  std::vector<ProtocolUse> used;  ///< rows whose count is not 0
  std::string rest;               ///< other lines of the log
};

ProtocolTables parse_protocol_tables(std::string_view log);

/// The sizes for which UCX chooses a protocol.
struct ProtocolRange {
  std::string operation;              ///< as in ProtocolUse; of the old engine "tag_send"
  std::uint64_t from = 0;             ///< bytes
  std::optional<std::uint64_t> to{};  ///< the last one, in bytes; empty: no end
  std::string protocol, device;       ///< of the old engine "egr/short", ""
};

/// Those in what ucp_ep_print_info and ucp_worker_print_info print: UCX up to 1.15 the thresholds
/// of an endpoint, newer ones tables for the operations that were used so far.
std::vector<ProtocolRange> parse_protocol_ranges(std::string_view printed);

}  // namespace ucxbench
