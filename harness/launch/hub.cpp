#include "harness/launch/hub.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace ucxbench {
namespace {

constexpr std::string_view report_prefix = "report/";

nlohmann::json value_frame(const Hub::Bytes& value) {
  return {{"type", "value"}, {"value", nlohmann::json::binary(value)}};
}

}  // namespace

Hub::Hub(int size, Values preset, OnReport on_report, Find find)
    : members_(static_cast<std::size_t>(size)),
      values_(std::move(preset)),
      on_report_(std::move(on_report)),
      find_(std::move(find)) {}

std::vector<Hub::Reply> Hub::handle(int rank, const nlohmann::json& frame) {
  std::vector<Reply> replies;
  Member& self = members_.at(static_cast<std::size_t>(rank));
  try {
    const auto& type = frame.at("type").get_ref<const std::string&>();
    if (type == "heartbeat") {
      const auto activity = frame.at("activity").get<std::uint64_t>();
      if (std::exchange(self.activity, activity) != activity) ++self.progress;
      return replies;
    }
    ++self.progress;
    if (type == "put") {
      put(rank, frame.at("key").get<std::string>(), frame.at("value").get_binary(), replies);
    } else if (type == "get") {
      get(rank, frame.at("key").get<std::string>(), replies);
    } else if (type == "gather") {
      gather(rank, frame.at("key").get<std::string>(), frame.at("value").get_binary(), replies);
    } else if (type == "barrier") {
      enter_barrier(rank, replies);
    } else if (type == "phase") {
      self.phase = frame.at("what").get<std::string>();
    } else if (type == "report") {
      report(rank, frame.at("key").get<std::string>(), frame.at("value").get_binary());
    } else if (type == "reported") {
      return replies;
    } else if (type == "finish") {
      self.finished = true;
    } else if (type == "fail") {
      self.failed = true;
      end(rank, exit_of(frame.at("exit").get<int>()), frame.at("reason").get<std::string>());
    } else {
      end(rank, Exit::lost, fmt::format("sent an unknown control message '{}'", type));
    }
  } catch (const Failure&) {
    throw;  // of on_report
  } catch (const std::exception& error) {
    end(rank, Exit::lost, fmt::format("sent a malformed control message ({})", error.what()));
  }
  return replies;
}

void Hub::put(int rank, const std::string& key, const Bytes& value, std::vector<Reply>& replies) {
  if (key.starts_with(report_prefix)) {
    report(rank, key, value);
  } else if (!values_.emplace(key, value).second) {
    end(rank, Exit::lost, fmt::format("put the key '{}' a second time", key));
    return;
  }
  reply(rank, {{"type", "ok"}}, replies);
  for (std::size_t waiter = 0; waiter < members_.size(); ++waiter) {
    if (members_[waiter].wanted_key == key) {
      reply(static_cast<int>(waiter), value_frame(value), replies);
    }
  }
}

void Hub::report(int rank, const std::string& key, const Bytes& value) const {
  if (on_report_) on_report_(rank, key, value);
}

void Hub::get(int rank, const std::string& key, std::vector<Reply>& replies) {
  if (const auto found = values_.find(key); found != values_.end()) {
    reply(rank, value_frame(found->second), replies);
    return;
  }
  if (const auto found = find_ ? find_(key) : std::nullopt) {
    reply(rank, value_frame(*found), replies);
    return;
  }
  Member& self = members_[static_cast<std::size_t>(rank)];
  self.wanted_key = key;
  self.waiting_for = fmt::format("'{}' from another rank", key);
}

void Hub::gather(int rank, const std::string& key, const Bytes& value,
                 std::vector<Reply>& replies) {
  auto& gathered = gathered_[key];
  gathered.values.resize(members_.size());
  auto& own = gathered.values[static_cast<std::size_t>(rank)];
  if (own) return end(rank, Exit::lost, fmt::format("gave the value '{}' a second time", key));
  own = value;
  members_[static_cast<std::size_t>(rank)].waiting_for =
      fmt::format("'{}' of the other ranks", key);
  if (++gathered.count < members_.size()) return;
  auto all = nlohmann::json::array();
  for (auto& each : gathered.values) all.push_back(nlohmann::json::binary(std::move(*each)));
  gathered_.erase(key);
  reply_to_all(value_frame(nlohmann::json::to_cbor(all)), replies);
}

void Hub::enter_barrier(int rank, std::vector<Reply>& replies) {
  Member& self = members_[static_cast<std::size_t>(rank)];
  self.waiting_for = "the other ranks in a barrier";
  if (std::exchange(self.in_barrier, true) || ++in_barrier_ < members_.size()) return;
  in_barrier_ = 0;
  for (auto& member : members_) member.in_barrier = false;
  reply_to_all({{"type", "go"}}, replies);
}

void Hub::Member::go_on() {
  waiting_for.clear();
  wanted_key.reset();
  ++progress;
}

void Hub::reply(int rank, nlohmann::json frame, std::vector<Reply>& replies) {
  members_[static_cast<std::size_t>(rank)].go_on();
  replies.push_back({rank, std::move(frame)});
}

void Hub::reply_to_all(nlohmann::json frame, std::vector<Reply>& replies) {
  for (auto& member : members_) member.go_on();
  replies.push_back({all_ranks, std::move(frame)});
}

void Hub::end(int rank, Exit exit, std::string reason) {
  if (!ending_) ending_ = Ending{rank, exit, std::move(reason)};
}

}  // namespace ucxbench
