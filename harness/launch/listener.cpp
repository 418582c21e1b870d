#include "harness/launch/listener.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <list>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "harness/core/strangers.hpp"

namespace ucxbench {
namespace {

using std::chrono::milliseconds;

constexpr const char* default_host = "127.0.0.1";
constexpr const char* default_port = "13337";
constexpr milliseconds connect_attempt_limit{2000};
constexpr milliseconds retry_period{200};
constexpr milliseconds attempt_tick{10};
constexpr milliseconds waiting_tick{100};
constexpr milliseconds hello_limit{5000};
// A host of ours that was dropped as one stranger too many tries again so often.
constexpr int most_cuts = 5;
// A port scan shall not fill the user's terminal.
constexpr int most_refusals_told = 8;

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses resolve(const HostPort& endpoint, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(endpoint.host.c_str(), endpoint.port.c_str(), &hints, &found);
  if (error != 0) {
    throw Failure(Exit::usage, fmt::format("cannot resolve '{}' port '{}': {}; give an IP address, "
                                           "or a name that this host knows",
                                           endpoint.host, endpoint.port, ::gai_strerror(error)));
  }
  return {found, &::freeaddrinfo};
}

/// One attempt; none, with the reason in errno, when it failed.
Fd connect_once(const addrinfo& address) {
  Fd fd(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return fd;
  if (::connect(fd.get(), address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return {};
    int error = ETIMEDOUT;
    socklen_t size = sizeof error;
    if (wait_for(fd.get(), POLLOUT, connect_attempt_limit)) {
      ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    }
    errno = error;
    if (error != 0) return {};
  }
  ::fcntl(fd.get(), F_SETFL, 0);  // blocking from here on: the limits are poll's
  return fd;
}

/// Connections that have not proved themselves. All are served by the thread that asks, for a
/// silent client shall keep nobody from what comes meanwhile, and many of them cost no thread each.
class Strangers {
 public:
  Strangers(const Identity& self, const std::string& token, std::size_t wanted)
      : self_(self), token_(token), wanted_(wanted) {}

  /// Whoever waits at `socket`, a listening one that does not block.
  void let_in(int socket) {
    for (std::size_t come = 0; come < most_strangers; ++come) {
      Fd connection(::accept4(socket, nullptr, nullptr, SOCK_CLOEXEC));
      if (!connection && errno != EMFILE && errno != ENFILE) return;
      if (connection) {
        auto source = source_of(connection.get());
        all_.push_back({std::move(connection), std::move(source), {}});
        all_.back().handshake.emplace(all_.back().connection.get(), Role::listener, self_, token_);
        drop_one_too_many(all_, wanted_);
      } else if (all_.empty()) {
        std::this_thread::sleep_for(waiting_tick);  // other files than theirs are open
        return;
      } else {
        all_.pop_front();
      }
    }
  }

  /// Until one of them says something, or one more comes.
  void wait(int socket, milliseconds limit) const {
    std::vector<pollfd> watched = {{socket, POLLIN, 0}};
    for (const auto& each : all_) watched.push_back({each.connection.get(), POLLIN, 0});
    ::poll(watched.data(), watched.size(), static_cast<int>(limit.count()));
  }

  /// Hears all of them: who proves itself is given to `known`, and why one is not let in to
  /// `refused`.
  template <typename Known, typename Refused>
  void hear(const Known& known, const Refused& refused) {
    for (auto each = all_.begin(); each != all_.end();) {
      try {
        auto greeted = each->handshake->go_on();
        if (!greeted) {
          ++each;
          continue;
        }
        known(std::make_unique<RemoteSupervisor>(std::move(each->connection), std::move(*greeted)));
      } catch (const Failure& failure) {
        refused(failure);
      }
      each = all_.erase(each);
    }
  }

 private:
  struct Stranger {
    Fd connection;
    std::string source;
    std::optional<Handshake> handshake;
  };

  const Identity& self_;
  const std::string& token_;
  std::size_t wanted_;
  std::list<Stranger> all_;  ///< the oldest first
};

/// Hosts that have proved themselves, until all are there.
class Joining {
 public:
  Joining(std::size_t wanted, const std::function<void(const std::string&)>& say)
      : wanted_(wanted), say_(say) {}

  bool complete() const { return hosts_.size() >= wanted_ && !any_silent(); }
  /// Whether one has not said yet who it is.
  bool any_silent() const {
    return std::ranges::any_of(hosts_, [](const auto& host) { return host.of->hello().is_null(); });
  }

  void add(std::unique_ptr<RemoteSupervisor> host) {
    if (hosts_.size() == wanted_) {
      const std::string why = "all hosts of the run are there already";
      say_(fmt::format("refused a connection: {}", why));
      host->say_goodbye(Exit::cannot_run, why);
      return;
    }
    hosts_.push_back({std::move(host), RemoteSupervisor::Clock::now() + hello_limit});
  }

  /// Takes what they say, and drops who has left.
  void look() {
    const auto now = RemoteSupervisor::Clock::now();
    for (auto host = hosts_.begin(); host != hosts_.end();) {
      host = is_there(*host, now) ? std::next(host) : hosts_.erase(host);
    }
  }

  std::string who_came() const {
    if (wanted_ == 1) return "no other host came";
    std::string text = fmt::format("{} of {} hosts came", hosts_.size(), wanted_);
    for (const auto& host : hosts_) text += fmt::format(" ({})", host.of->host());
    return text;
  }

  RemoteSupervisors all() {
    RemoteSupervisors all;
    for (auto& host : hosts_) all.push_back(std::move(host.of));
    return all;
  }

 private:
  struct Host {
    std::unique_ptr<RemoteSupervisor> of;
    RemoteSupervisor::Clock::time_point hello_deadline;
  };

  bool is_there(Host& host, RemoteSupervisor::Clock::time_point now) {
    std::optional<std::string> problem;
    const bool silent = host.of->hello().is_null();
    try {
      host.of->receive(now, [&](const Channel::Frame&) { problem = "it left again"; });
    } catch (const Failure& failure) {
      problem = failure.what();
    }
    if (!problem) problem = host.of->problem(now);
    if (!problem && host.of->hello().is_null() && now > host.hello_deadline) {
      problem = "it did not say who it is";
    }
    if (problem) {
      say_(fmt::format("{}: {}", host.of->host(), *problem));
    } else if (silent && !host.of->hello().is_null()) {
      const auto here = std::ranges::count_if(
          hosts_, [](const Host& each) { return !each.of->hello().is_null(); });
      say_(wanted_ == 1
               ? fmt::format("connected to {}", host.of->host())
               : fmt::format("connected to {} ({} of {})", host.of->host(), here, wanted_));
    }
    return !problem;
  }

  std::size_t wanted_;
  const std::function<void(const std::string&)>& say_;
  std::list<Host> hosts_;
};

/// Tells of the first refused connections one by one, and of the others at the end.
class Refusals {
 public:
  explicit Refusals(const std::function<void(const std::string&)>& say) : say_(say) {}
  ~Refusals() {
    if (count_ <= most_refusals_told) return;
    say_(fmt::format("refused {} more connections", count_ - most_refusals_told));
  }
  Refusals(const Refusals&) = delete;
  Refusals& operator=(const Refusals&) = delete;

  void add(const char* why) {
    if (++count_ <= most_refusals_told) say_(fmt::format("refused a connection: {}", why));
  }

 private:
  const std::function<void(const std::string&)>& say_;
  int count_ = 0;
};
}  // namespace

HostPort parse_host_port(std::string_view text) {
  const auto colon = text.rfind(':');
  const bool bracketed = text.starts_with('[');
  const bool has_port =
      colon != std::string_view::npos && (!bracketed || (colon > 0 && text[colon - 1] == ']'));
  std::string host(has_port ? text.substr(0, colon) : text);
  std::string port(has_port ? text.substr(colon + 1) : default_port);
  if (bracketed && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const bool good_host = host.find_first_of("[]/ ") == std::string::npos &&
                         (bracketed || host.find(':') == std::string::npos);
  const bool digits = !port.empty() && port.size() <= 5 &&
                      port.find_first_not_of("0123456789") == std::string::npos;
  if (!good_host || !digits || std::stoi(port) > 65535) {
    throw Failure(Exit::usage, fmt::format("'{}' is not HOST:PORT, as in 192.0.2.1:{} or "
                                           "[2001:db8::1]:{}",
                                           text, default_port, default_port));
  }
  return {host.empty() ? default_host : std::move(host), std::move(port)};
}

std::string in_words(const HostPort& endpoint) {
  const bool brackets = endpoint.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", brackets ? "[" : "", endpoint.host, brackets ? "]" : "",
                     endpoint.port);
}

Listener::Listener(const HostPort& endpoint) : endpoint_(endpoint) {
  const auto addresses = resolve(endpoint, AI_PASSIVE | AI_NUMERICSERV);
  socket_ = Fd(::socket(addresses->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  if (socket_) ::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (!socket_ || ::bind(socket_.get(), addresses->ai_addr, addresses->ai_addrlen) != 0 ||
      ::listen(socket_.get(), SOMAXCONN) != 0) {
    throw Failure(Exit::usage, fmt::format("cannot listen on {} port {}: {}; give --listen IP:PORT "
                                           "an address of this host and a free port",
                                           endpoint.host, endpoint.port, std::strerror(errno)));
  }
}

std::uint16_t Listener::port() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size);
  // The port has the same place in both families.
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

RemoteSupervisors Listener::gather(int count, const Identity& self, const std::string& token,
                                   milliseconds limit,
                                   const std::function<void(const std::string&)>& say) {
  const auto wanted = static_cast<std::size_t>(count);
  const auto deadline = RemoteSupervisor::Clock::now() + limit;
  Strangers strangers(self, token, wanted);
  Joining joining(wanted, say);
  Refusals refusals(say);
  while (!joining.complete()) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - RemoteSupervisor::Clock::now());
    if (left.count() <= 0) {
      throw Failure(
          Exit::cannot_run,
          fmt::format("{} to {} port {} within {:g} s: start the other side{} with "
                      "--connect",
                      joining.who_came(), endpoint_.host, port(),
                      std::chrono::duration<double>(limit).count(), count == 1 ? "" : "s"));
    }
    strangers.wait(socket_.get(),
                   std::min(left, joining.any_silent() ? attempt_tick : waiting_tick));
    strangers.let_in(socket_.get());
    strangers.hear([&](auto supervisor) { joining.add(std::move(supervisor)); },
                   [&](const Failure& failure) { refusals.add(failure.what()); });
    joining.look();
  }
  return joining.all();
}

std::unique_ptr<RemoteSupervisor> connect_to_listener(const HostPort& endpoint,
                                                      const Identity& self,
                                                      const std::string& token, milliseconds limit,
                                                      const nlohmann::json& hello) {
  const auto addresses = resolve(endpoint, AI_NUMERICSERV);
  const auto deadline = RemoteSupervisor::Clock::now() + limit;
  int error = 0;
  int cuts = 0;
  const auto refuse = [&](const Failure& failure) {
    throw Failure(failure.exit(),
                  fmt::format("{} port {}: {}", endpoint.host, endpoint.port, failure.what()));
  };
  std::optional<HandshakeCut> cut;
  do {
    for (const addrinfo* address = addresses.get(); address != nullptr;
         address = address->ai_next) {
      Fd connection = connect_once(*address);
      if (!connection) {
        if (cut) refuse(*cut);
        error = errno;
        continue;
      }
      try {
        auto greeted = shake_hands(connection.get(), Role::connector, self, token);
        auto supervisor =
            std::make_unique<RemoteSupervisor>(std::move(connection), std::move(greeted));
        auto said = hello;
        said["type"] = "hello";
        supervisor->send(said);
        return supervisor;
      } catch (const HandshakeCut& failure) {
        if (++cuts == most_cuts) refuse(failure);
        cut = failure;
      } catch (const Failure& failure) {
        refuse(failure);
      }
    }
    std::this_thread::sleep_for(retry_period);
  } while (RemoteSupervisor::Clock::now() < deadline);
  if (cut) refuse(*cut);
  throw Failure(Exit::cannot_run,
                fmt::format("nobody listens on {} port {} ({}): start the other side with --listen",
                            endpoint.host, endpoint.port, std::strerror(error)));
}

}  // namespace ucxbench
