#include "harness/run/probe.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "harness/comm/worker.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/fd.hpp"
#include "harness/core/helper_program.hpp"
#include "harness/core/or_null.hpp"
#include "harness/core/read_json.hpp"
#include "harness/core/text.hpp"
#include "harness/launch/environment.hpp"
#include "harness/launch/leftovers.hpp"
#include "harness/result/transports.hpp"
#include "harness/run/loaded_libraries.hpp"
#include "harness/topology/discover.hpp"
#include "harness/transports/transport_set.hpp"

namespace ucxbench {
namespace {

// All of the pipe until its end; empty when the limit passed first.
std::string read_all(int fd, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  std::string text;
  for (std::array<char, 4096> part{};;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd ready{fd, POLLIN, 0};
    if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) == 0) return {};
    const auto count = read(fd, part.data(), part.size());
    if (count == 0) return text;
    if (count > 0) text.append(part.data(), static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR) return text;
  }
}

void ask_cuda(Probe& found) {
  try {
    found.gpus = CudaDriver::get().devices();
    if (found.gpus.empty()) found.no_cuda = "no GPU: the CUDA driver lists none";
  } catch (const Failure& failure) {
    found.no_cuda = failure.what();
  }
}

std::time_t begun = 0;

// UCX has a System V segment for a moment whenever it tests that it sees memory go, as when it
// opens an RDMA device (ucm_mmap_install).
void leave_nothing(int signal) {
  stop_and_leave_nothing(begun);
  ::_exit(128 + signal);
}

constexpr const char* cuda_word = "cuda";
constexpr const char* topology_word = "topology";
constexpr const char* mpi_word = "mpi";

// Those that it is asked about, as JSON in the last word, and the environment's.
std::vector<std::pair<std::string, std::string>> values_in(std::span<const char* const> words) {
  std::vector<std::pair<std::string, std::string>> values;
  if (!words.empty()) {
    const auto asked = json_or_null(words.back());
    if (asked.is_array()) asked.get_to(values);
  }
  for (const auto& [name, value] : current_environment()) {
    if (name.starts_with("UCX_")) values.emplace_back(name, value);
  }
  return values;
}

// Opens what a rank opens. UCX complains of variables that it did not use when a worker is made.
int open_ucx() {
  const UcxWorker worker(Api::tag, ProgressMode{});
  return 0;
}

// A machine whose wiring cannot be read can be measured all the same.
Json ask_topology() {
  try {
    return to_json(discover());
  } catch (const Failure&) {
    return {};
  }
}

}  // namespace

void to_json(Json& json, const Probe& found) {
  json = {{"ucx", found.ucx},
          {"gpus", Json::array()},
          {"no_cuda", found.no_cuda},
          {"mpi",
           {{"why_not", found.mpi.why_not},
            {"library", found.mpi.library},
            {"mpirun", found.mpi.mpirun},
            {"gpu_memory", found.mpi.gpu_memory},
            {"over_ucx", found.mpi.over_ucx}}},
          {"libraries", found.libraries},
          {"unreadable", found.unreadable},
          {"topology", found.topology}};
  for (const auto& gpu : found.gpus) {
    json["gpus"].push_back({{"index", gpu.index},
                            {"name", gpu.name},
                            {"pci", gpu.pci},
                            {"memory_bytes", gpu.memory_bytes}});
  }
}

void from_json(const Json& json, Probe& found) {
  found = {.ucx = json.at("ucx").get<UcxResources>(),
           .gpus = {},
           .no_cuda = json.at("no_cuda").get<std::string>(),
           .mpi = {},
           .libraries = json.at("libraries"),
           .unreadable = json.at("unreadable").get<std::vector<UnreadableSetting>>(),
           .topology = json.at("topology")};
  const auto& mpi = json.at("mpi");
  mpi.at("why_not").get_to(found.mpi.why_not);
  mpi.at("library").get_to(found.mpi.library);
  mpi.at("mpirun").get_to(found.mpi.mpirun);
  mpi.at("gpu_memory").get_to(found.mpi.gpu_memory);
  mpi.at("over_ucx").get_to(found.mpi.over_ucx);
  for (const auto& gpu : json.at("gpus")) {
    auto& device = found.gpus.emplace_back();
    gpu.at("index").get_to(device.index);
    gpu.at("name").get_to(device.name);
    gpu.at("pci").get_to(device.pci);
    gpu.at("memory_bytes").get_to(device.memory_bytes);
  }
}

std::string why_not_here(std::string_view transport, const Probe& found) {
  if (fabric_of(transport) == Fabric::gpu_links && !found.no_cuda.empty()) {
    return (found.no_cuda.starts_with("no GPU") ? "" : "no GPU: ") + found.no_cuda;
  }
  const auto prefix = fmt::format("{}: ", transport);
  auto reasons = missing(TransportSet::parse(transport), found.ucx);
  for (auto& reason : reasons) {
    if (reason.starts_with(prefix)) reason.erase(0, prefix.size());
  }
  return fmt::format("{}", fmt::join(reasons, "; "));
}

int probe_main(std::span<const char* const> words) {
  const auto asked = [&](std::string_view word) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view given) { return given == word; });
  };
  begun = std::time(nullptr);
  ::signal(SIGTERM, leave_nothing);
  try {
    if (asked(open_word)) return open_ucx();
    Probe found;
    if (asked(cuda_word)) ask_cuda(found);
    if (asked(topology_word)) found.topology = ask_topology();
    if (asked(mpi_word)) found.mpi = find_mpi();
    found.ucx = query_ucx();
    found.unreadable = unreadable_settings(values_in(words), found.ucx.version);
    found.libraries = Json::object();
    for (const auto& [name, library] : loaded_libraries()) {
      found.libraries[name] = {{"path", library.path}, {"build", text_or_null(library.build)}};
    }
    std::puts(json_text(found).c_str());
    return 0;
  } catch (const Failure& failure) {
    std::puts(json_text({{"error", failure.what()}}).c_str());
    return static_cast<int>(failure.exit());
  }
}

Probe probe(const ProbeFor& asked) {
  constexpr std::chrono::seconds limit{20};
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Failure(Exit::cannot_run,
                  fmt::format("starting a probe of UCX: {}", std::strerror(errno)));
  }
  Fd out(ends[0]);
  Fd in(ends[1]);
  std::optional<HelperProgram> program;
  try {
    program.emplace(
        std::vector<std::string>{"/proc/self/exe", probe_command, asked.cuda ? cuda_word : "",
                                 asked.topology ? topology_word : "", asked.mpi ? mpi_word : "",
                                 json_text(asked.values)},
        HelperProgram::Setup{.output = in.get(), .at_our_end = SIGTERM});
  } catch (const std::system_error& error) {
    throw Failure(Exit::cannot_run,
                  fmt::format("starting a probe of UCX: {}", error.code().message()));
  }
  in = Fd();
  const auto text = read_all(out.get(), limit);
  if (text.empty()) program->kill();
  const int status = program->wait();
  // UCX may print warnings of its own before; the answer is the last line.
  const auto lines = split_text(trim_text(text), '\n');
  const auto answer = json_or_null(lines.back());
  if (answer.is_object() && answer.contains("error")) {
    throw Failure(Exit::cannot_run, answer.at("error").get<std::string>());
  }
  if (!answer.is_object()) {
    const auto how = WIFSIGNALED(status)
                         ? fmt::format("was killed by signal {}", WTERMSIG(status))
                         : fmt::format("exited with status {}", WEXITSTATUS(status));
    throw Failure(Exit::cannot_run, fmt::format("UCX does not start here: a probe {}", how));
  }
  return answer.get<Probe>();
}

}  // namespace ucxbench
