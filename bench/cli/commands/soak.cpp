#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "bench/cli/commands/carry_out.hpp"
#include "bench/cli/commands/commands.hpp"
#include "bench/cli/commands/growth.hpp"
#include "bench/cli/commands/remote.hpp"
#include "bench/cli/options/help.hpp"
#include "bench/cli/plan/plan_of_args.hpp"
#include "bench/cli/plan/random_command.hpp"
#include "harness/core/ending.hpp"
#include "harness/core/files.hpp"
#include "harness/core/print.hpp"
#include "harness/core/units.hpp"
#include "harness/result/transfers.hpp"

namespace ucxbench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t most_attempts = 100;
// In every third round the ranks' memory is compared with that of the same command with so much
// more to do.
constexpr std::uint64_t compared_each = 3;
constexpr int times_more = 8;
// What short runs have is seen by chance: a growth must be there in each of so many pairs.
constexpr int most_pairs = 3;
// Less than this is nobody's leak: what allocators, logs of messages and libraries differ by.
constexpr double least_bytes = double{4U << 20U};
constexpr double least_descriptors = 4;
constexpr std::chrono::milliseconds look_pause{20};

/// What a process has at a moment.
struct Held {
  double bytes = 0;
  double descriptors = 0;

  Held most(const Held& other) const {
    return {std::max(bytes, other.bytes), std::max(descriptors, other.descriptors)};
  }
  Held least(const Held& other) const {
    return {std::min(bytes, other.bytes), std::min(descriptors, other.descriptors)};
  }
  bool any() const { return bytes > 0; }
  bool is_more_than(const Held& other) const {
    return bytes - other.bytes >= least_bytes ||
           descriptors - other.descriptors >= least_descriptors;
  }
};

std::uint64_t of_status(const fs::path& process, std::string_view label) {
  std::istringstream text(text_of(process / "status"));
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with(label)) return std::stoull(line.substr(label.size())) << 10U;
  }
  return 0;
}

Held held_by(const fs::path& process, std::string_view memory) {
  return {static_cast<double>(of_status(process, memory)),
          static_cast<double>(entries_of(process / "fd").size())};
}

/// The most that any rank of this host had, while this lives. Ranks are started by the thread that
/// makes this, or by who is started by it, as mpirun.
class RanksWatch {
 public:
  RanksWatch()
      : own_(fmt::format("/proc/self/task/{}", ::gettid())),
        thread_([this](const std::stop_token& stop) {
          for (; !stop.stop_requested(); std::this_thread::sleep_for(look_pause)) look(own_);
        }) {}

  Held most() {
    thread_.request_stop();
    thread_.join();
    return most_;
  }

 private:
  void look(const fs::path& thread) {
    std::istringstream children(text_of(thread / "children"));
    for (std::string child; children >> child;) {
      const auto process = fs::path("/proc") / child;
      if (text_of(process / "environ").find("UCXBENCH_INTERNAL_RANK=") == std::string::npos) {
        for (const auto& other : entries_of(process / "task")) look(process / "task" / other);
        continue;
      }
      most_ = most_.most(held_by(process, "VmHWM:"));
    }
  }

  fs::path own_;
  Held most_;
  std::jthread thread_;
};

struct SoakOptions {
  std::string duration = "8h";
  std::optional<std::uint64_t> seed;
  std::optional<std::uint64_t> round;
  std::optional<std::uint64_t> rounds;
  std::string folder = "ucx-bench-soak";
  Sides sides;
};

std::string how_long(const SoakOptions& options) {
  if (options.round) return fmt::format("--round {}", *options.round);
  if (options.rounds) return fmt::format("--rounds {}", *options.rounds);
  return fmt::format("--duration {}", options.duration);
}

/// As many ranks on each host as are drawn for one.
void spread(RandomCommand& command, const Sides& sides) {
  const auto ranks = command.options.find("ranks");
  if (ranks == command.options.end()) return;  // the benchmark has its own number
  ranks->second = std::to_string(sides.ranks_per_host.value_or(std::stoi(ranks->second)) *
                                 sides.number_of_hosts());
}

class Soak {
 public:
  Soak(const SoakOptions& options, std::uint64_t seed, const GlobalOptions& global)
      : options_(options), seed_(seed), global_(global) {
    global_.quiet = true;
    global_.progress = "never";
  }

  Exit run() {
    fs::create_directories(options_.folder);
    const auto end = Clock::now() + parse_duration(options_.duration);
    auto exit = Exit::done;
    for (auto round = options_.round.value_or(0); exit == Exit::done; ++round) {
      exit = count(play(round));
      ours_.push_back(held_by("/proc/self", "VmRSS:"));
      if (options_.round) break;
      if (options_.rounds ? ours_.size() >= *options_.rounds : Clock::now() >= end) break;
    }
    std::error_code not_empty;
    fs::remove(options_.folder, not_empty);
    if (exit == Exit::done || exit == Exit::gate) exit = worse(exit, judge_ours());
    if (exit == Exit::done && verified_ == 0) exit = Exit::cannot_run;
    for (const auto& other : others_) other->say_goodbye(exit, "");
    return exit;
  }

  void say_rounds() const {
    print_to(stdout,
             "{} rounds: {} measured and verified, {} failed, {} could not run here{}; in {} of "
             "them ranks were compared with those of {} times the work\n",
             ours_.size(), verified_, failed_, unavailable_,
             interrupted_ > 0 ? fmt::format(", {} interrupted", interrupted_) : "", compared_,
             times_more);
  }

 private:
  /// What became of a round, by the exit of all that was done in it; and whether to go on.
  Exit count(Exit round) {
    ++(round == Exit::done          ? verified_
       : round == Exit::cannot_run  ? unavailable_
       : round == Exit::interrupted ? interrupted_
                                    : failed_);
    return round == Exit::cannot_run ? Exit::done : round;
  }

  Exit play(std::uint64_t round) {
    for (std::uint64_t attempt = 0; attempt < most_attempts; ++attempt) {
      auto command = random_command(seed_, round, attempt);
      spread(command, options_.sides);
      try {
        return play(command, round);
      } catch (const Failure& refused) {
        if (refused.exit() != Exit::usage) throw;
      }
    }
    throw Failure(Exit::lost,
                  fmt::format("round {}: {} commands in a row are refused", round, most_attempts));
  }

  Exit play(const RandomCommand& command, std::uint64_t round) {
    Held once;
    Held often;
    auto exit = measure(command.args(), round, once);
    if (exit != Exit::done) return exit;
    if (round % compared_each != 0 && !options_.round) return exit;
    for (int pair = 0; pair < most_pairs; ++pair) {
      Held again;
      if (pair > 0) {
        exit = measure(command.args(), round, again);
        if (exit != Exit::done) return exit;
        once = once.most(again);
      }
      exit = measure(command.args(times_more), round, again);
      if (exit != Exit::done) return exit;
      often = pair == 0 ? again : often.least(again);
      if (!often.is_more_than(once)) break;
    }
    if (!once.any() || !often.any()) return exit;  // they are other hosts' alone
    ++compared_;
    const auto memory = compare("memory", once.bytes, often.bytes, least_bytes, command, round);
    const auto files = compare("open files", once.descriptors, often.descriptors, least_descriptors,
                               command, round);
    return worse(memory, files);
  }

  Exit measure(const std::string& args, std::uint64_t round, Held& ranks) {
    const auto file = fs::path(options_.folder) / fmt::format("{}-{}.json", seed_, round);
    RunOptions run;
    CLI::App outputs;
    run.add_outputs(outputs);
    std::vector<std::string> words = {file.string(), "--json"};  // as CLI11 takes them
    outputs.parse(words);
    Schedule schedule;
    schedule.launches = 1;
    auto plan = plan_of_args(args, schedule.launches, &options_.sides);
    RanksWatch watch;
    const auto measured =
        measure_plans("soak", {std::move(plan)}, schedule, run, global_, &others_);
    ranks = watch.most();
    if (measured.exit == Exit::done || measured.exit == Exit::cannot_run) {
      std::error_code ignored;
      for (const auto& left : {file, transfers_file(file)}) fs::remove(left, ignored);
      return measured.exit;
    }
    if (measured.exit == Exit::interrupted) return measured.exit;
    auto reason = measured.result->run.at("reason").get<std::string>();
    for (const auto& benchmark_case : measured.result->cases) {
      if (reason.empty()) reason = benchmark_case.reason;
    }
    fail(fmt::format("{}; its run file is '{}'", reason, file.string()), args, round);
    return measured.exit;
  }

  void fail(const std::string& what, const std::string& args, std::uint64_t round) const {
    print_to(stderr,
             "ucx-bench: round {}: {}\n  ucx-bench {}\n  again: ucx-bench soak --seed {} "
             "--round {}\n",
             round, what, args, seed_, round);
    has_said_why();
  }

  Exit compare(const char* what, double once, double often, double least,
               const RandomCommand& command, std::uint64_t round) const {
    if (often - once < least) return Exit::done;
    fail(fmt::format("a rank's {} grew with its work: {} at most, and {} with {} times "
                     "the work",
                     what, in_words(once, least), in_words(often, least), times_more),
         command.args(times_more), round);
    return Exit::gate;
  }

  static std::string in_words(double amount, double least) {
    return least == least_bytes ? rough_size(static_cast<std::uint64_t>(amount))
                                : fmt::format("{:g}", amount);
  }

  /// Of this process, over all rounds.
  Exit judge_ours() const {
    const auto memory = judge("memory", &Held::bytes, least_bytes);
    return worse(memory, judge("open files", &Held::descriptors, least_descriptors));
  }

  Exit judge(const char* what, double Held::* part, double least) const {
    std::vector<double> values;
    for (const auto& held : ours_) values.push_back(held.*part);
    const auto growth = growth_of(values);
    if (!growth) return Exit::done;
    print_to(stdout, "{} of this program: {} after a quarter of the rounds, {} at the end\n", what,
             in_words(values[values.size() / 4], least), in_words(values.back(), least));
    if (growth->least < least) return Exit::done;
    print_to(stderr,
             "ucx-bench: this program's {} grew from round to round: by {} since the first "
             "quarter of {} rounds, by {} at least with a confidence of 95 %\n  again: ucx-bench "
             "soak --seed {} {}\n",
             what, in_words(growth->total, least), values.size(), in_words(growth->least, least),
             seed_, how_long(options_));
    return Exit::gate;
  }

  const SoakOptions& options_;
  std::uint64_t seed_;
  GlobalOptions global_;
  RemoteSupervisors others_;
  std::vector<Held> ours_;
  std::size_t verified_ = 0, failed_ = 0, unavailable_ = 0, interrupted_ = 0;  ///< rounds
  std::size_t compared_ = 0;
};

Exit run_soak(SoakOptions& options, const GlobalOptions& global) {
  const RankPlacement usual{.bind = "auto", .wrap = "", .net_devices = "auto"};
  if (const auto exit = follow_if_not_first(options.sides, usual, global)) return *exit;
  const auto seed = options.seed.value_or(std::random_device()());
  if (!global.quiet) print_to(stdout, "ucx-bench soak --seed {} {}\n", seed, how_long(options));
  if (global.dry_run) {
    auto first = random_command(seed, options.round.value_or(0), 0);
    spread(first, options.sides);
    print_to(stdout, "the first command: ucx-bench {}\n", first.args());
    return Exit::done;
  }
  std::fflush(stdout);
  Soak soak(options, seed, global);
  const auto exit = soak.run();
  if (!global.quiet) soak.say_rounds();
  return exit;
}

}  // namespace

AddedCommand add_soak(CLI::App& app) {
  auto* command = app.add_subcommand(
      "soak", "random commands for hours, verified; memory and open files are watched");
  add_examples(*command, {"soak --duration 8h", "soak --seed 7 --round 17"});
  const auto o = std::make_shared<SoakOptions>();
  command->add_option("--duration", o->duration, "no round begins later")
      ->type_name("TIME")
      ->capture_default_str();
  command->add_option("--rounds", o->rounds, "number of rounds, instead of --duration")
      ->type_name("INT");
  command
      ->add_option("--seed", o->seed,
                   "seed of the commands (default: a random one, which is printed)")
      ->type_name("INT");
  command->add_option("--round", o->round, "this round alone, as a failure prints it")
      ->type_name("INT");
  command->add_option("--folder", o->folder, "where the run file of a failure stays")
      ->type_name("FOLDER")
      ->capture_default_str();
  add_sides(*command, o->sides);
  return {command, [o](const GlobalOptions& global) { return run_soak(*o, global); }};
}

}  // namespace ucxbench
