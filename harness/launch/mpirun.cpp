#include "harness/launch/mpirun.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>

#include "harness/core/failure.hpp"
#include "harness/core/files.hpp"
#include "harness/launch/channel.hpp"

namespace ucxbench {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::seconds mpirun_start_limit{60};
constexpr std::chrono::milliseconds mpirun_tick{100};
constexpr std::chrono::seconds words_limit{5};  // for one process to tell its environment
constexpr std::chrono::seconds place_end_limit{2};
constexpr std::chrono::milliseconds place_pause{5};

constexpr const char* socket_name = "places";
constexpr const char* output_name = "mpirun.txt";

std::filesystem::path new_folder() {
  // MPI's shared memory is files in it.
  std::string name = "/dev/shm/ucx-bench-mpi-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    throw Failure(Exit::cannot_run,
                  fmt::format("mpi: no folder in /dev/shm: {}", std::strerror(errno)));
  }
  return name;
}

sockaddr_un address_in(const std::filesystem::path& folder) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto path = (folder / socket_name).string();
  std::copy_n(path.begin(), std::min(path.size(), sizeof address.sun_path - 1), address.sun_path);
  return address;
}

Fd stream_socket() { return Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

Fd listen_in(const std::filesystem::path& folder, int ranks) {
  Fd listener = stream_socket();
  const auto address = address_in(folder);
  if (!listener ||
      ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.get(), ranks) != 0) {
    throw Failure(Exit::cannot_run,
                  fmt::format("mpi: a socket for mpirun's processes: {}", std::strerror(errno)));
  }
  return listener;
}

/// All that comes until the other side has no more; empty when that takes too long.
std::string text_from(int fd) {
  const auto deadline = SteadyClock::now() + words_limit;
  std::string text;
  for (std::array<char, 16384> part{};;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now());
    if (left.count() <= 0 || !wait_for(fd, POLLIN, left)) return {};
    const auto bytes = ::recv(fd, part.data(), part.size(), 0);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return {};
    if (bytes == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(bytes));
  }
}

std::string_view name_in(std::string_view entry) { return entry.substr(0, entry.find('=')); }

int rank_in(const std::vector<std::string>& environment) {
  constexpr std::string_view variable = "PMIX_RANK=";
  int rank = -1;
  for (const auto& entry : environment) {
    if (!entry.starts_with(variable)) continue;
    std::from_chars(entry.data() + variable.size(), entry.data() + entry.size(), rank);
  }
  return rank;
}

void remove_folder(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

}  // namespace

bool is_of_a_launcher(std::string_view variable) {
  for (const auto* prefix : {"PMIX_", "PMI_", "PRTE_", "ORTE_", "SLURM_", "PBS_", "LSB_",
                             "OMPI_COMM_WORLD_", "OMPI_UNIVERSE_", "OMPI_MCA_orte_", "OMPI_MCA_ess",
                             "OMPI_MCA_pmix", "OMPI_MCA_initial_wdir"}) {
    if (variable.starts_with(prefix)) return true;
  }
  return false;
}

MpirunJob::MpirunJob(const std::string& mpirun, const std::vector<RankCommand>& ranks,
                     const GivenUp& given_up)
    : given_(ranks.front().environment), folder_(new_folder()), places_(ranks.size()) {
  try {
    listener_ = listen_in(folder_, static_cast<int>(ranks.size()));
    const Fd output(::open((folder_ / output_name).c_str(),
                           O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR));
    std::vector<std::string> argv = {mpirun,        "--allow-run-as-root",
                                     "--host",      fmt::format("localhost:{}", ranks.size()),
                                     "--bind-to",   "none",
                                     "-np",         std::to_string(ranks.size()),
                                     own_program(), mpi_place_command,
                                     folder_};
    try {
      mpirun_.emplace(std::move(argv),
                      HelperProgram::Setup{.output = output.get(),
                                           .errors = output.get(),
                                           .environment = environment_of_mpirun()});
    } catch (const std::system_error& error) {
      throw Failure(Exit::cannot_run,
                    fmt::format("mpi: cannot run '{}': {}", mpirun, error.code().message()));
    }
    await_places(given_up);
  } catch (const Failure&) {
    mpirun_.reset();
    remove_folder(folder_);
    throw;
  }
}

MpirunJob::~MpirunJob() {
  for (const auto& place : places_) {
    // As long as the connection is open its number is nobody else's.
    char none = 0;
    const auto got = ::recv(place.connection.get(), &none, 1, MSG_DONTWAIT | MSG_PEEK);
    if (place.pid > 0 && got != 0) ::kill(place.pid, SIGKILL);
  }
  mpirun_.reset();
  remove_folder(folder_);
}

// On this host alone, whatever allocation there is; its own messages over loopback.
std::vector<std::string> MpirunJob::environment_of_mpirun() const {
  std::vector<std::string> all;
  std::ranges::copy_if(given_, std::back_inserter(all),
                       [](const auto& entry) { return !is_of_a_launcher(name_in(entry)); });
  all.emplace_back("OMPI_MCA_plm=isolated");
  all.emplace_back("OMPI_MCA_oob_tcp_if_include=lo");
  for (const auto* variable :
       {"OMPI_MCA_orte_tmpdir_base", "OMPI_MCA_btl_vader_backing_directory",
        "OMPI_MCA_btl_sm_backing_directory", "PRTE_MCA_prte_tmpdir_base", "TMPDIR"}) {
    std::erase_if(all, [&](const auto& entry) { return name_in(entry) == variable; });
    all.push_back(fmt::format("{}={}", variable, folder_.string()));
  }
  return all;
}

void MpirunJob::await_places(const GivenUp& given_up) {
  const auto deadline = SteadyClock::now() + mpirun_start_limit;
  while (!all_have_a_place()) {
    if (wait_for(listener_.get(), POLLIN, mpirun_tick)) {
      take_place(Fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)));
    } else if (given_up()) {
      throw Failure(Exit::interrupted, "ended before mpirun had started its processes");
    } else if (const auto end = ended()) {
      throw Failure(Exit::cannot_run, fmt::format("mpi: {}", end->how));
    } else if (SteadyClock::now() > deadline) {
      throw Failure(Exit::cannot_run, fmt::format("mpi: mpirun takes longer than {} s to start{}",
                                                  mpirun_start_limit.count(), words()));
    }
  }
}

// The folder is this user's alone: nobody else finds the socket.
void MpirunJob::take_place(Fd connection) {
  if (!connection) return;
  const auto text = text_from(connection.get());
  Place place{.connection = std::move(connection)};
  for (std::size_t at = 0; at < text.size();) {
    place.environment.emplace_back(&text[at]);
    at += place.environment.back().size() + 1;
  }
  const auto rank = rank_in(place.environment);
  if (rank < 0 || rank >= static_cast<int>(places_.size())) {
    throw Failure(Exit::cannot_run,
                  "mpi: mpirun gives its processes no PMIX_RANK: it is not Open MPI's");
  }
  ucred who{};
  socklen_t length = sizeof who;
  ::getsockopt(place.connection.get(), SOL_SOCKET, SO_PEERCRED, &who, &length);
  place.pid = who.pid;
  places_[static_cast<std::size_t>(rank)] = std::move(place);
}

bool MpirunJob::all_have_a_place() const {
  return std::ranges::all_of(places_, [](const Place& place) { return place.pid > 0; });
}

RankCommand MpirunJob::at_place(RankCommand command, int rank) const {
  const std::set<std::string_view> given(given_.begin(), given_.end());
  for (const auto& entry : places_.at(static_cast<std::size_t>(rank)).environment) {
    if (given.contains(entry)) continue;
    std::erase_if(command.environment,
                  [&](const auto& own) { return name_in(own) == name_in(entry); });
    command.environment.push_back(entry);
  }
  return command;
}

std::optional<MpirunJob::End> MpirunJob::ended() {
  if (said_end_) return std::nullopt;
  const auto status = mpirun_->status();
  if (!status) return std::nullopt;
  said_end_ = true;
  if (WIFSIGNALED(*status)) {
    return End{fmt::format("mpirun was killed by signal {}", WTERMSIG(*status)), true};
  }
  return End{fmt::format("mpirun exited with status {}{}", WEXITSTATUS(*status), words()), false};
}

// The first paragraph of what it has printed, between its lines of dashes.
std::string MpirunJob::words() const {
  std::ifstream file(folder_ / output_name);
  std::string words;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("---")) continue;
    if (line.empty() && !words.empty()) break;
    words += (words.empty() ? ": " : " ") + line;
  }
  return in_one_line(words);
}

int mpi_place_main(const std::filesystem::path& folder) {
  const pid_t mpirun = ::getppid();
  const Fd supervisor = stream_socket();
  const auto address = address_in(folder);
  if (!supervisor || ::connect(supervisor.get(), reinterpret_cast<const sockaddr*>(&address),
                               sizeof address) != 0) {
    return static_cast<int>(Exit::lost);
  }
  std::string all;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    all += *entry;
    all += '\0';
  }
  for (std::size_t sent = 0; sent < all.size();) {
    const auto bytes = ::send(supervisor.get(), &all[sent], all.size() - sent, MSG_NOSIGNAL);
    if (bytes < 0 && errno != EINTR) return static_cast<int>(Exit::lost);
    if (bytes > 0) sent += static_cast<std::size_t>(bytes);
  }
  ::shutdown(supervisor.get(), SHUT_WR);
  char none = 0;
  while (::recv(supervisor.get(), &none, 1, 0) < 0 && errno == EINTR) {
  }
  // Killed, it has left this to do. mpirun dies with it.
  const auto deadline = SteadyClock::now() + place_end_limit;
  while (::getppid() == mpirun && SteadyClock::now() < deadline)
    std::this_thread::sleep_for(place_pause);
  remove_folder(folder);
  return 0;
}

}  // namespace ucxbench
