#include "harness/launch/far_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ucxbench {
namespace {

constexpr std::chrono::seconds launch_end_limit{5};

// LocalRanks::signals_tag is 0.
constexpr Events::Tag tag_of_host(int host) { return static_cast<Events::Tag>(host); }

}  // namespace

FarRanks::FarRanks(Events& events, int size, const std::vector<int>& hosts,
                   const RemoteSupervisors& others, Listener listener)
    : events_(events),
      host_of_(hosts),
      others_(others),
      listener_(std::move(listener)),
      far_(static_cast<std::size_t>(size)) {}

int FarRanks::host_of(int rank) const {
  return host_of_.empty() ? 0 : host_of_[static_cast<std::size_t>(rank)];
}

std::vector<int> FarRanks::ranks_of(int host) const {
  std::vector<int> ranks;
  for (int rank = 0; rank < static_cast<int>(far_.size()); ++rank) {
    if (host_of(rank) == host) ranks.push_back(rank);
  }
  return ranks;
}

bool FarRanks::all_reported() const {
  for (int rank = 0; rank < static_cast<int>(far_.size()); ++rank) {
    const auto& far = far_[static_cast<std::size_t>(rank)];
    if (host_of(rank) != 0 && !far.gone && !far.reported) return false;
  }
  return true;
}

void FarRanks::start(const Hub::Values& preset, const std::vector<nlohmann::json>& told) {
  auto keys = nlohmann::json::object();
  for (const auto& [key, value] : preset) keys[key] = nlohmann::json::binary(value);
  for (int host = 1; host <= hosts(); ++host) {
    other(host).send({{"type", "launch"},
                      {"ranks", ranks_of(host)},
                      {"size", far_.size()},
                      {"preset", keys},
                      {"told", told.at(static_cast<std::size_t>(host) - 1)}});
    events_.watch(other(host).fd(), tag_of_host(host));
  }
}

void FarRanks::stop() const {
  for (const auto& each : others_) each->send({{"type", "stop"}});
}

void FarRanks::send(const Hub::Reply& reply) {
  const bool to_all = reply.rank == Hub::all_ranks;
  const auto first = to_all ? 1 : host_of(reply.rank);
  const auto last = to_all ? hosts() : first;
  for (auto host = first; host <= last; ++host) {
    tell(host, {{"type", "rank"}, {"rank", reply.rank}, {"frame", reply.frame}});
  }
}

void FarRanks::take(Events::Tag tag, Clock::time_point now) {
  const auto host = static_cast<int>(tag);
  try {
    other(host).receive(now, [&](const auto& frame) { take_frame(host, frame); });
  } catch (const Failure& failure) {
    lose(host, failure.what());
  }
  if (other(host).ended()) events_.forget(other(host).fd());
}

void FarRanks::check(Clock::time_point now) {
  for (int host = 1; host <= hosts(); ++host) {
    if (const auto problem = other(host).problem(now)) lose(host, *problem);
  }
}

void FarRanks::forgive(Clock::time_point now) const {
  for (const auto& each : others_) each->forgive(now);
}

void FarRanks::ask_for_stacks(int rank, std::chrono::milliseconds limit) {
  const bool asked =
      tell(host_of(rank), {{"type", "stacks"}, {"rank", rank}, {"limit_ms", limit.count()}});
  if (asked) ++stacks_awaited_;
}

std::vector<Failure> FarRanks::end() const {
  std::vector<Failure> problems;
  const auto attempt = [&](const auto& step) {
    try {
      step();
    } catch (const Failure& failure) {
      problems.push_back(failure);
    }
  };
  std::vector<RemoteSupervisor*> ending;
  for (const auto& each : others_) {
    attempt([&] {
      each->begin_end();
      ending.push_back(each.get());
    });
  }
  const auto deadline = Clock::now() + launch_end_limit;
  for (auto* each : ending) attempt([&] { each->await_end(deadline); });
  return problems;
}

void FarRanks::take_frame(int host, const nlohmann::json& frame) {
  const std::string type = frame.value("type", "");
  if (type == "stop") {
    stopped_on_ = host_name(host);
    return;
  }
  if (type == "leave") {
    listener_.on_leave(host_name(host));
    return;
  }
  if (type == "complaint") {
    lose(host, fmt::format("{} ended: {}", host_name(host), frame.at("text").get<std::string>()));
    return;
  }
  if (type == "answer") return;  // to what was asked between launches: it came too late
  const auto rank = frame.value("rank", -1);
  if (rank < 0 || rank >= static_cast<int>(far_.size()) || host_of(rank) != host) {
    throw Failure(Exit::lost,
                  fmt::format("{} sent a message for a rank of another host", host_name(host)));
  }
  auto& far = far_[static_cast<std::size_t>(rank)];
  if (type == "blame") {
    listener_.on_blame(rank, {frame.value("text", ""), exit_of(frame.value("exit", 5)),
                              frame.value("root_cause", false), frame.value("hung", false),
                              frame.value("after_all", false)});
  } else if (type == "stacks") {
    --stacks_awaited_;
    listener_.on_stacks(rank, frame.value("text", ""));
  } else if (type == "gone") {
    far.gone = true;
  } else {
    const auto& said = frame.at("frame");
    far.reported = far.reported || said.value("type", "") == "reported";
    listener_.on_frame(rank, said);
  }
}

bool FarRanks::tell(int host, const nlohmann::json& frame) {
  try {
    other(host).send(frame);
    return true;
  } catch (const Failure& failure) {
    lose(host, failure.what());
    return false;
  }
}

// Once: what its ranks miss from now on has this cause.
void FarRanks::lose(int host, const std::string& problem) {
  const auto ranks = ranks_of(host);
  if (std::ranges::all_of(ranks, [&](int rank) { return gone(rank); })) return;
  for (const auto rank : ranks) far_[static_cast<std::size_t>(rank)].gone = true;
  listener_.on_lost(host, problem);
}

}  // namespace ucxbench
