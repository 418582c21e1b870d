#include "bench/cli/pingpong_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/of_option.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"
#include "harness/launch/shell_words.hpp"
#include "harness/memory/buffer.hpp"

namespace ucxbench {
namespace {

// dask-cuda's spelling of one set (dask_cuda/benchmarks/utils.py): its InfiniBand and NVLink come
// with TCP, for connections and small messages.
std::string dask_set(const PingPongOptions& o) {
  if (!o.enable_tcp && !o.enable_nvlink && !o.enable_infiniband) return "";
  return std::string("tcp") + (o.enable_nvlink ? ",nvlink" : "") +
         (o.enable_infiniband ? ",ib" : "");
}

std::vector<std::string> set_texts(const PingPongOptions& o) {
  const auto dask = dask_set(o);
  if (o.enable_rdmacm && !o.enable_infiniband) {
    throw Failure(Exit::usage, "--enable-rdmacm: connections by rdmacm need --enable-infiniband");
  }
  if (!dask.empty() && !o.transports.empty()) {
    throw Failure(Exit::usage, "--enable-… and --transports: both name a set; use one of them");
  }
  if (o.ablate && (!dask.empty() || !o.transports.empty() || !o.require.empty())) {
    throw Failure(Exit::usage,
                  "--ablate tries every set: leave --transports, --enable-… and --require out");
  }
  return dask.empty() ? o.transports : std::vector<std::string>{dask};
}

std::vector<TransportSet> parse_sets(const PingPongOptions& o) {
  auto texts = set_texts(o);
  if (texts.empty()) {
    texts = o.ranks == 1 ? std::vector<std::string>{"self"}
            : o.remote() ? std::vector<std::string>{"tcp"}
                         : std::vector<std::string>{"tcp", "shm"};
  }
  std::vector<TransportSet> sets;
  for (const auto& text : texts) {
    auto set = TransportSet::parse(text);
    const bool self_only = set.members() == std::vector<std::string>{"self"};
    if (o.ranks == 1 && !self_only) {
      throw Failure(Exit::usage, fmt::format("--ranks 1 with --transports {}: one rank plays with "
                                             "itself over self only; use -n 2 or --transports self",
                                             text));
    }
    if (o.ranks > 1 && set.has("self")) {
      throw Failure(Exit::usage, fmt::format("--transports {}: self is one rank with itself; use "
                                             "-n 1, or leave self out",
                                             text));
    }
    const auto same = [&](const TransportSet& other) { return other.name() == set.name(); };
    if (std::none_of(sets.begin(), sets.end(), same)) sets.push_back(std::move(set));
  }
  return sets;
}

std::vector<std::vector<MemoryKind>> parse_memory(const std::vector<std::string>& texts) {
  std::vector<std::vector<MemoryKind>> all;
  for (const auto& text : texts.empty() ? std::vector<std::string>{"host"} : texts) {
    std::vector<MemoryKind> kinds;
    for (const auto kind : split_text(text, ',')) kinds.push_back(parse_memory_kind(kind));
    if (kinds.size() > 2) {
      throw Failure(Exit::usage, fmt::format("--memory {}: one kind, or two: sent from, received "
                                             "into; repeat the option for several",
                                             text));
    }
    if (kinds.size() == 1) kinds.push_back(kinds.front());
    if (std::find(all.begin(), all.end(), kinds) == all.end()) all.push_back(kinds);
  }
  return all;
}

std::optional<TransportSet> parse_required(const PingPongOptions& o,
                                           const std::vector<TransportSet>& sets) {
  if (o.require.empty()) return std::nullopt;
  auto required = of_option("--require", [&] { return TransportSet::parse(o.require); });
  for (const auto& set : sets) {
    for (const auto& member : required.members()) {
      if (set.has(member) || set.has("auto") || required.has("auto")) continue;
      throw Failure(Exit::usage,
                    fmt::format("--require {}: {} does not ask for {}; require what every "
                                "--transports names",
                                o.require, set.name(), member));
    }
  }
  return required;
}

void check_memory(const std::vector<std::uint64_t>& sizes, int local_ranks) {
  const auto largest = *std::max_element(sizes.begin(), sizes.end());
  const auto available = available_memory_bytes();
  // A send and a receive buffer in each rank; UCX and the system keep a tenth.
  const auto fits = available / 10 * 9 / 2 / static_cast<std::uint64_t>(local_ranks);
  if (largest <= fits) return;
  throw Failure(Exit::usage,
                fmt::format("--sizes: {} twice in each of {} ranks is more than the available "
                            "memory; at most {} MiB fit",
                            spaced_size(largest), local_ranks, fits >> 20U));
}

}  // namespace

void check_ranks(const PingPongOptions& o) {
  if (o.ranks > 1 && o.ranks % 2 != 0) {
    throw Failure(Exit::usage, fmt::format("--ranks {}: pairs need an even number, or 1 with "
                                           "--transports self",
                                           o.ranks));
  }
  if (o.listen && o.connect) {
    throw Failure(Exit::usage, "--listen and --connect: one side listens, the other connects");
  }
  if (o.listen && o.ranks != 2) {
    throw Failure(Exit::usage, "--listen runs two ranks, one on each side: leave --ranks out");
  }
}

void add_options(CLI::App& command, PingPongOptions& o) {
  const auto text = [&](const char* name, std::string& value, const char* help, const char* type,
                        const char* group) {
    command.add_option(name, value, help)->type_name(type)->group(group)->capture_default_str();
  };
  command
      .add_option("-n,--ranks", o.ranks, "processes: an even number, pairs play at once; 1 = self")
      ->group("ranks")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command.add_option("--launches", o.launches, "fresh sets of processes per case")
      ->group("ranks")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  text("--timeout", o.timeout, "longest wait without progress", "TIME", "ranks");
  text("--wrap", o.wrap, "start each rank under this command; {rank} is replaced", "COMMAND",
       "ranks");
  command.add_option("--listen", o.listen, "wait for the second rank's shell or machine")
      ->group("ranks")
      ->type_name("[IP:PORT]")
      ->expected(0, 1)
      ->default_str("127.0.0.1:13337");
  command.add_option("--connect", o.connect, "be the second rank of a --listen")
      ->group("ranks")
      ->type_name("HOST:PORT");
  text("--token-file", o.token_file, "secret shared by --listen and --connect", "FILE", "ranks");
  text("--connect-by", o.connect_by, "address | sockaddr (a UCP listener)", "WAY", "ranks");
  text("--progress-mode", o.progress_mode, "poll | event | thread | periodic:100us, or a list",
       "MODE,..", "ranks");
  command
      .add_option("-m,--memory", o.memory,
                  "host | pinned | cuda | managed, or SEND,RECEIVE; repeatable (default: host)")
      ->group("place")
      ->type_name("KIND")
      ->allow_extra_args(false);
  text("--devs", o.devices, "GPUs of the ranks, round again: 0-3,7 (default: all)", "LIST",
       "place");
  text("--rmm-pool-size", o.pool_size, "GPU memory allocated at once (default: what is needed)",
       "SIZE", "place");
  command.add_flag("--no-pool", o.no_pool, "each buffer an allocation of its own")->group("place");
  text("--gdr", o.gdr, "GPUDirect RDMA and GDRCopy: auto | on | off", "WHEN", "place");
  text("--bind", o.bind, "CPUs of the ranks: auto | none | one CPU per rank, 0,1", "LIST", "place");
  text("--net-devices,--ucx-net-devices", o.net_devices, "auto | all | names, as lo or eth0,eth1",
       "LIST", "place");
  command
      .add_option("--transports", o.transports,
                  "one set: self | shm | tcp | nvlink | ib, joined by commas | auto; repeat the "
                  "option for several (default: tcp, then shm)")
      ->group("place")
      ->type_name("SET")
      ->allow_extra_args(false);
  const auto dask = [&](const char* name, bool& value, const char* help) {
    command.add_flag(name, value, help)->group("place, as dask-cuda spells it");
  };
  dask("--enable-tcp-over-ucx", o.enable_tcp, "--transports tcp");
  dask("--enable-nvlink", o.enable_nvlink, "--transports tcp,nvlink");
  dask("--enable-infiniband", o.enable_infiniband, "--transports tcp,ib");
  dask("--enable-rdmacm", o.enable_rdmacm, "--connect-by sockaddr, by rdmacm");
  command.add_flag("--ablate", o.ablate, "every set of the transports that exist here")
      ->group("place");
  text("--require", o.require, "exit 1 unless this carried at least 99 % of the bytes", "SET",
       "place");
  command
      .add_flag("--allow-same-gpu", o.allow_same_gpu,
                "--require nvlink: a copy inside one GPU will do")
      ->group("place");
  command.add_flag("--strict", o.strict, "exit 3 if any set cannot run")->group("place");
  command.add_option("--ucx", o.ucx, "a UCX setting of your own, over all others; repeatable")
      ->group("place")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  text("-s,--sizes", o.sizes, "8,1KiB or 8:64MiB:x2 or 0:1MiB:+64KiB", "LIST", "load");
  text("--api", o.api, "tag | stream, or both", "API,..", "load");
  text("--measure", o.measure, "latency | bandwidth, or both", "METRIC,..", "load");
  command.add_option("-W,--window", o.window, "messages outstanding in the bandwidth part")
      ->group("load")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  command.add_flag("--bidirectional", o.bidirectional, "also bandwidth both ways at once")
      ->group("load");
  command.add_option("-w,--warmup-runs", o.warmup_runs, "uncounted runs before each case")
      ->group("sample")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  command
      .add_option("--iterations", o.iterations,
                  "exactly so many, whatever the time (default: by "
                  "--max-time)")
      ->group("sample")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{100'000'000}));
  text("--max-time", o.max_time, "measuring time per case, all launches together", "TIME",
       "sample");
  text("--check", o.check, "payload comparison outside the clock: full | sample | off", "AMOUNT",
       "sample");
  command.add_option("--tag", o.tags, "a note for the result; repeatable")
      ->group("output")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  o.outputs.add_options(command);
}

PingPongPlan parse_plan(const PingPongOptions& o) {
  split_shell_words(o.wrap);  // refuses an open quote
  PingPongPlan plan;
  plan.sets = parse_sets(o);
  for (const auto name : split_text(o.api, ',')) plan.apis.push_back(parse_api(name));
  for (const auto name : split_text(o.progress_mode, ',')) {
    plan.modes.push_back(ProgressMode::parse(name));
  }
  plan.sizes = of_option("--sizes", [&] { return parse_sizes(o.sizes); });
  check_memory(plan.sizes, o.remote() ? 1 : o.ranks);
  auto& common = plan.common;
  common.window = o.window;
  pingpong::set_measured(common, o.measure);
  common.bidirectional = o.bidirectional;
  if (common.bidirectional && !common.bandwidth) {
    throw Failure(Exit::usage,
                  "--bidirectional: it is a bandwidth, which --measure latency leaves out");
  }
  plan.memory = parse_memory(o.memory);
  common.pool = !o.no_pool;
  if (!o.pool_size.empty()) {
    if (o.no_pool) throw Failure(Exit::usage, "--rmm-pool-size and --no-pool: one of the two");
    common.pool_bytes = of_option("--rmm-pool-size", [&] { return parse_size(o.pool_size); });
  }
  if (!o.devices.empty()) {
    common.devices = of_option("--devs", [&] { return parse_list(o.devices); });
  }
  if (o.gdr != "auto") {
    if (o.gdr != "on" && o.gdr != "off") {
      throw Failure(Exit::usage, "--gdr: " + unknown_name("setting", o.gdr, {"auto", "on", "off"}));
    }
    plan.gdr = o.gdr == "on";
  }
  plan.require = parse_required(o, plan.sets);
  common.connect_by = o.enable_rdmacm ? ConnectBy::sockaddr : parse_connect_by(o.connect_by);
  common.ranks = o.ranks;
  common.warmup_runs = o.warmup_runs;
  if (o.iterations > 0) common.iterations = o.iterations;
  common.time_per_launch =
      of_option("--max-time", [&] { return parse_duration(o.max_time); }) / o.launches;
  common.check = pingpong::parse_check(o.check);
  return plan;
}

}  // namespace ucxbench
