#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace ucxbench {

/// One message as one of its ends saw it, or one stretch of time that a rank spent in a phase of
/// its own work. 48 bytes, written to files as it is on little-endian machines.
struct Transfer {
  enum Kind : std::uint8_t { send = 0, receive = 1, phase = 2 };

  std::uint64_t posted_ns = 0;     ///< CLOCK_MONOTONIC of the rank's host; a phase's begin
  std::uint64_t completed_ns = 0;  ///< 0: not yet
  std::uint64_t bytes = 0;
  std::uint64_t label = 0;  ///< the message's, equal on both ends; or the phase's number
  std::uint16_t rank = 0;   ///< whose record it is
  std::uint16_t peer = 0;
  std::uint16_t in_flight = 0;  ///< of this rank when it was posted; 65535 and more as that
  std::uint8_t kind = send;
  std::uint8_t at_once = 0;  ///< 1: complete when the call that posted it returned
  std::uint32_t iteration = 0;
  std::uint32_t unused = 0;
};
static_assert(sizeof(Transfer) == 48);

/// Where a part of the records comes from.
struct TransferSection {
  std::uint32_t case_index = 0;  ///< in the run file's cases
  std::uint32_t launch = 0;
  std::uint32_t rank = 0;
  std::uint32_t records = 0;
};
static_assert(sizeof(TransferSection) == 16);

/// What is behind the file's eight bytes "UCXTRF01": sections, each followed by its records. A run
/// file names it under run.transfers.
std::vector<std::uint8_t> section_bytes(TransferSection section, std::span<const Transfer> records);

/// "runs/a.json" → "runs/a.transfers.bin".
std::filesystem::path transfers_file(const std::filesystem::path& run_file);

/// Appends all of the sections, or nothing; a new file gets its first bytes too. Throws
/// Failure(Exit::usage) when it cannot be written.
void append_transfers(const std::filesystem::path& file, std::span<const std::uint8_t> sections);

struct LoggedTransfers {
  TransferSection section;
  std::vector<Transfer> records;
};

/// Throws Failure(Exit::usage) for a file that is missing, not one of these, or cut off.
std::vector<LoggedTransfers> read_transfers(const std::filesystem::path& file);

}  // namespace ucxbench
