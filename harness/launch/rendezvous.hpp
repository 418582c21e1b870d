#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ucxbench {

/// How the ranks of one launch find each other. It carries start-up addresses, small control values
/// and barriers outside timed regions; measurements never depend on it. Every verb that waits calls
/// `progress` again and again, since a transport may have to move bytes for the peer to arrive (it
/// may sleep until it has something to do, or answer_fd() can be read), and
/// throws Failure(Exit::lost) when the run is being aborted. Implemented over an inherited socket
/// pair (ChannelRendezvous); the verbs map one to one on PMIx_Put + Commit, Get, Fence.
class Rendezvous {
 public:
  using Bytes = std::vector<std::uint8_t>;
  using Progress = std::function<void()>;
  /// Reports, by their key.
  using Finished = std::function<std::vector<std::pair<std::string, Bytes>>()>;

  virtual ~Rendezvous() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Its number among the ranks of its machine: by it a rank takes a GPU.
  virtual int rank_on_machine() const { return rank(); }

  /// Can be read when there is an answer to the verb that waits; -1: nothing tells.
  virtual int answer_fd() const { return -1; }

  /// Publishes `value` under `key`, once per key and launch. Returns when the coordinator has it
  /// (and, for a report, has written it to disk).
  virtual void put(std::string_view key, const Bytes& value, const Progress& progress) = 0;

  /// Waits until some rank has put `key`.
  virtual Bytes get(std::string_view key, const Progress& progress) = 0;

  /// What every rank has under `key`, by rank, once per key and launch. All ranks call it.
  virtual std::vector<Bytes> all_gather(std::string_view key, const Bytes& own,
                                        const Progress& progress) {
    const auto key_of = [&](int rank) { return std::string(key) + "/" + std::to_string(rank); };
    put(key_of(rank()), own, progress);
    std::vector<Bytes> all;
    for (int other = 0; other < size(); ++other) all.push_back(get(key_of(other), progress));
    return all;
  }

  /// Waits for all ranks.
  virtual void barrier(const Progress& progress) = 0;

  /// `finished` gives what this rank has finished and perhaps not yet put, under keys "report/…",
  /// for when the user ends the run. It is called on another thread, once at most; empty: nothing.
  virtual void at_stop(const Finished& /*finished*/) {}

  /// Says what this rank does now ("tag 1 MiB: latency"), for whoever must explain a hang. Cheap;
  /// never called inside a timed region.
  virtual void phase(std::string_view what) = 0;
};

}  // namespace ucxbench
