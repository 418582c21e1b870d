#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/failure.hpp"
#include "harness/launch/rendezvous.hpp"

namespace ucxbench {

/// The coordinator's half of a Rendezvous as a state machine without input or output: requests of
/// the ranks in, replies to the ranks out.
class Hub {
 public:
  using Bytes = Rendezvous::Bytes;
  using Values = std::map<std::string, Bytes, std::less<>>;
  /// Takes a value put under a key that begins with "report/". The rank waits until it returns, so
  /// ranks stay quiet while a result goes to disk.
  using OnReport = std::function<void(int rank, const std::string& key, const Bytes& value)>;

  /// The value under a key that no rank has put; empty where there is none.
  using Find = std::function<std::optional<Bytes>(const std::string& key)>;

  struct Reply {
    int rank;  ///< or all_ranks
    nlohmann::json frame;
  };
  static constexpr int all_ranks = -1;
  struct Ending {
    int rank;
    Exit exit;
    std::string reason;
  };

  /// `preset` can be got by every rank from the start, and what `find` has. `on_report` may be
  /// empty: reports are then dropped.
  Hub(int size, Values preset, OnReport on_report, Find find = {});

  /// Handles one frame of `rank`. A frame that breaks the protocol ends the run.
  std::vector<Reply> handle(int rank, const nlohmann::json& frame);

  /// Why a rank ended the run; the first cause only.
  const std::optional<Ending>& ending() const { return ending_; }

  /// Changes with every sign of progress: a request, a reply, a moved activity counter.
  std::uint64_t progress(int rank) const { return member(rank).progress; }
  /// What the rank waits for in a verb ("a barrier"), or empty.
  const std::string& waiting_for(int rank) const { return member(rank).waiting_for; }
  const std::string& phase(int rank) const { return member(rank).phase; }
  bool finished(int rank) const { return member(rank).finished; }
  /// True when this rank has said itself why it fails.
  bool failed(int rank) const { return member(rank).failed; }

 private:
  struct Member {
    std::string phase;
    std::string waiting_for;
    std::optional<std::string> wanted_key;
    bool in_barrier = false;
    bool finished = false;
    bool failed = false;
    std::uint64_t activity = 0;
    std::uint64_t progress = 0;

    void go_on();
  };

  const Member& member(int rank) const { return members_.at(static_cast<std::size_t>(rank)); }
  void put(int rank, const std::string& key, const Bytes& value, std::vector<Reply>& replies);
  void report(int rank, const std::string& key, const Bytes& value) const;
  void get(int rank, const std::string& key, std::vector<Reply>& replies);
  void gather(int rank, const std::string& key, const Bytes& value, std::vector<Reply>& replies);
  void enter_barrier(int rank, std::vector<Reply>& replies);
  void reply(int rank, nlohmann::json frame, std::vector<Reply>& replies);
  void reply_to_all(nlohmann::json frame, std::vector<Reply>& replies);
  void end(int rank, Exit exit, std::string reason);

  std::vector<Member> members_;
  Values values_;
  /// Values that not all ranks have given yet, by key; and how many have.
  struct Gathered {
    std::vector<std::optional<Bytes>> values;
    std::size_t count = 0;
  };
  std::map<std::string, Gathered, std::less<>> gathered_;
  std::size_t in_barrier_ = 0;
  OnReport on_report_;
  Find find_;
  std::optional<Ending> ending_;
};

}  // namespace ucxbench
