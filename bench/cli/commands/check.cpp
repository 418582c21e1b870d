#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "bench/cli/commands/carry_out.hpp"
#include "bench/cli/commands/commands.hpp"
#include "bench/cli/commands/remote.hpp"
#include "bench/cli/options/help.hpp"
#include "bench/cli/options/memory_options.hpp"
#include "bench/cli/plan/expect_file.hpp"
#include "bench/cli/plan/plan_of_args.hpp"
#include "harness/analysis/findings.hpp"
#include "harness/analysis/rules/judged.hpp"
#include "harness/core/files.hpp"
#include "harness/core/of_option.hpp"
#include "harness/core/print.hpp"
#include "harness/core/units.hpp"
#include "harness/report/check_view.hpp"
#include "harness/report/text.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/words.hpp"
#include "harness/run/probe.hpp"
#include "harness/topology/cpus.hpp"

namespace ucxbench {
namespace {

constexpr int check_launches = 3;

struct CheckOptions {
  int ranks = 2;  ///< of each host
  Sides sides;
  RunOptions run;
  std::string expect, write_expect;
  std::string max_time = "30s";
};

/// What is measured for a site: for each transport set and memory what the limits need, once.
class CheckPlans {
 public:
  /// With so many ranks on each host, or one more where that makes an even number of all of several
  /// hosts.
  CheckPlans(int ranks, const Sides& sides)
      : ranks_(ranks + (sides.number_of_hosts() > 1 ? ranks * sides.number_of_hosts() % 2 : 0)),
        sides_(sides) {}

  /// Which of the run's cases has them.
  std::size_t rates(const Expectation& of) {
    const bool on_gpu = any_on_gpu(parse_memory_pair(of.memory));
    return add(of, "bandwidth",
               fmt::format("p2p -n {} --concurrent one --sizes {} --iterations 4 --runs 2",
                           all(ranks_), on_gpu ? "64MiB" : "16MiB"));
  }
  std::size_t latencies(const Expectation& of) {
    return add(
        of, "latency",
        fmt::format("pingpong -n {} --pairs every --measure latency --sizes 8 --max-time 600ms",
                    even(all(ranks_))));
  }

  const std::vector<Plan>& plans() const { return plans_; }

 private:
  int all(int ranks) const { return ranks * sides_.number_of_hosts(); }
  /// Of an odd number one host alone has another rank, so that nobody rests in a round.
  static int even(int ranks) { return ranks + ranks % 2; }

  std::size_t add(const Expectation& of, const std::string& name, const std::string& args) {
    const auto kinds = parse_memory_pair(of.memory);
    // In one order, however the file has it.
    const auto members = TransportSet::parse(of.transports).members();
    const auto args_and_set =
        fmt::format("{} --timeout 20s --transports {} --memory {},{}", args,
                    fmt::join(members, ","), to_string(kinds.front()), to_string(kinds.back()));
    const auto known = std::ranges::find(args_, args_and_set);
    if (known != args_.end()) return static_cast<std::size_t>(known - args_.begin());
    const auto parse = [&] { return plan_of_args(args_and_set, check_launches, &sides_); };
    plans_.push_back(of.place.empty() ? parse() : of_option(of.place, parse));
    plans_.back().name = name;
    // A run file has one host of each rank.
    plans_.back().hosts_in_turns = false;
    plans_.back().origin = of.place;
    args_.push_back(args_and_set);
    return args_.size() - 1;
  }

  int ranks_;
  const Sides& sides_;
  std::vector<Plan> plans_;        ///< of one case each
  std::vector<std::string> args_;  ///< of each plan
};

struct NeededCases {
  std::size_t rates = 0, latencies = 0;
};

/// `goes_on`: ranks that do not reach each other are for the limits to judge.
MeasuredRun measure_site(const CheckPlans& plans, const CheckOptions& o,
                         const GlobalOptions& global, bool goes_on,
                         RemoteSupervisors* others = nullptr) {
  Schedule schedule;
  schedule.goes_on = goes_on;
  schedule.launches = check_launches;
  schedule.max_time = of_option("--max-time", [&] { return parse_duration(o.max_time); });
  return measure_plans("check", plans.plans(), schedule, o.run, global, others);
}

std::string check_line(std::string_view verdict, std::string_view subject,
                       const std::string& text) {
  const auto head = fmt::format("{:<13} {:<22} ", verdict, subject);
  return wrapped(text, std::string(head.size(), ' '), page_width()).replace(0, head.size(), head);
}

WhyImpossible why_impossible(const Result& result) {
  return [run = std::make_shared<const Judged>(result)](const Case& of) {
    return run->flaw_of(of) == Flaw::impossible ? run->in_words(Flaw::impossible, of) : "";
  };
}

/// By rank; empty where all of a case were on one host.
std::map<int, std::string> several_hosts(const Result& result, const Case& of) {
  auto hosts = hosts_of_ranks(result, of);
  const bool one = std::ranges::all_of(
      hosts, [&](const auto& each) { return each.second == hosts.begin()->second; });
  if (one) hosts.clear();
  return hosts;
}

/// Where a rank was; empty where all were on one host.
std::string host_of(const std::map<int, std::string>& hosts, const std::optional<int>& rank) {
  const auto found = rank ? hosts.find(*rank) : hosts.end();
  return found == hosts.end() ? "" : found->second;
}

/// p2p connects all pairs before it measures the first one, so that one link which is down costs
/// all figures: it says how to get those of the others.
void add_way_around(CheckedLimit& limit, const std::map<int, std::string>& hosts) {
  const auto host = host_of(hosts, limit.src);
  const auto peer = host_of(hosts, limit.dst);
  if (limit.fulfilment != Fulfilment::missed || limit.measured || host == peer) return;
  limit.why += fmt::format(
      "; no pair has GB/s while these two do not reach each other: for those of the others, check "
      "without {}, and without {}",
      host, peer);
}

Json limit_json(const Expectation& of, const CheckedLimit& limit,
                const std::map<int, std::string>& hosts) {
  const auto host = host_of(hosts, limit.src);
  const auto peer = host_of(hosts, limit.dst);
  return {{"place", of.place},
          {"transports", text_or_null(of.transports)},
          {"memory", text_or_null(of.memory)},
          {"class", text_or_null(of.path_class)},
          {"limit", limit.name},
          {"expected", limit.expected},
          {"measured", number_or_null(limit.measured)},
          {"src", number_or_null(limit.src)},
          {"dst", number_or_null(limit.dst)},
          {"host", text_or_null(host)},
          {"peer", text_or_null(peer == host ? "" : peer)},
          {"verdict", to_string(limit.fulfilment)},
          {"path_verdict", limit.path ? Json(name_of(path_verdicts, *limit.path)) : Json()},
          {"why", text_or_null(limit.why)}};
}

Exit exit_of(Fulfilment fulfilment) {
  switch (fulfilment) {
    case Fulfilment::met:
      return Exit::done;
    case Fulfilment::cannot_run:
      return Exit::cannot_run;
    case Fulfilment::inconclusive:
      return Exit::inconclusive;
    case Fulfilment::missed:
      break;
  }
  return Exit::gate;
}

/// What a site's file expects here.
struct ExpectedHere {
  std::vector<Expectation> expectations;
  std::string no_class;  ///< why it says nothing of nodes like some here; empty where it does
};

/// Of nodes of that class, where not all are; else empty: all of them.
std::optional<std::set<int>> ranks_on(const std::string& node, const SiteFile& site,
                                      const Result& result) {
  if (node.empty()) return std::nullopt;
  std::map<std::string, std::string> class_of;
  for (const auto& host : result.machine.at("hosts")) {
    const auto* known = find_class(site, class_of_host(host));
    class_of[text_at(host, "/name")] = known == nullptr ? "" : known->name;
  }
  auto ranks = hosts_of_ranks(result);
  const auto all = ranks.size();
  std::erase_if(ranks, [&](const auto& of) { return class_of[of.second] != node; });
  if (ranks.size() == all) return std::nullopt;
  std::set<int> numbers;
  for (const auto& of : ranks) numbers.insert(of.first);
  return numbers;
}

/// Records what became of each limit, prints it, and returns the status that follows.
Exit judge_site(const SiteFile& site, const ExpectedHere& here,
                const std::vector<NeededCases>& needed, Result& result, const CheckOptions& o,
                bool quiet) {
  Json all = Json::array();
  std::string lines;
  auto worst = Fulfilment::met;
  Exit exit = Exit::done;
  std::size_t open = 0;
  const auto add = [&](const Expectation& expectation, const CheckedLimit& limit,
                       const std::map<int, std::string>& hosts) {
    worst = std::max(worst, limit.fulfilment);
    if (limit.fulfilment == Fulfilment::inconclusive) ++open;
    exit = worse(exit, exit_of(limit.fulfilment));
    all.push_back(limit_json(expectation, limit, hosts));
    if (quiet && limit.fulfilment == Fulfilment::met) return;
    lines += check_line(text_at(all.back(), "/verdict"), limit_subject(all.back()),
                        limit_in_words(all.back()));
  };
  // No output passes a node of which nobody knows what it should have.
  if (!here.no_class.empty()) {
    add({.place = o.expect, .memory = ""},
        {.name = "node",
         .expected = {},
         .fulfilment = Fulfilment::cannot_run,
         .why = here.no_class},
        {});
  }
  const auto impossible = why_impossible(result);
  for (std::size_t at = 0; at < needed.size(); ++at) {
    const auto& rates = result.cases.at(needed[at].rates);
    const auto& latencies = result.cases.at(needed[at].latencies);
    const auto& expectation = here.expectations[at];
    for (auto& limit :
         check_limits(expectation, &rates, &latencies,
                      {.lost_launches = result.run.value("lost_launches", Json::array()),
                       .ranks = ranks_on(expectation.node, site, result),
                       .impossible = impossible})) {
      const bool of_latencies = limit.name == "max_us";
      const auto hosts = several_hosts(result, of_latencies ? latencies : rates);
      if (!of_latencies) add_way_around(limit, hosts);
      add(expectation, limit, hosts);
    }
  }
  for (const auto& outlier : outliers_in_words(result)) {
    lines += check_line("slow", "against the others", outlier);
  }
  for (const auto& [who, line] : ucx_warnings_in_words(result)) {
    lines += check_line("warning", who, line);
  }
  const auto decided = [](const Json& limit) {
    return limit.at("verdict") == to_string(Fulfilment::met) ||
           limit.at("verdict") == to_string(Fulfilment::missed);
  };
  if (open > 0 && std::ranges::none_of(all, decided)) {
    lines += fmt::format("nothing was decided: {} of {} {} inconclusive; the lines above say why\n",
                         open, counted(all.size(), "limit"), all.size() == 1 ? "is" : "are");
  }
  result.run["check"] = {
      {"file", o.expect}, {"verdict", to_string(worst)}, {"limits", std::move(all)}};
  if (!o.run.outputs.takes_stdout()) print_to(stdout, "{}", lines);
  return exit;
}

/// Those of all nodes, and of these hosts' classes.
ExpectedHere expectations_here(const SiteFile& site, const std::string& file,
                               const std::vector<Json>& hosts) {
  if (site.nodes.empty()) return {.expectations = site.expectations, .no_class = {}};
  std::set<std::string> classes;
  std::vector<std::string> unknown;
  std::vector<std::string> without;
  const auto is_for = [](const Expectation& of, const std::string& node) {
    return of.node.empty() || of.node == node;
  };
  for (const auto& host : hosts) {
    const auto node = class_of_host(host);
    const auto* known = find_class(site, node);
    const auto name = hosts.size() == 1 ? "this one" : text_at(host, "/name");
    if (known == nullptr) {
      add_once(unknown, fmt::format("{} ({})", name, in_words(node)));
      continue;
    }
    classes.insert(known->name);
    if (std::ranges::none_of(site.expectations,
                             [&](const auto& of) { return is_for(of, known->name); })) {
      add_once(without, fmt::format("{} ('{}')", name, known->name));
    }
  }
  ExpectedHere here;
  std::ranges::copy_if(
      site.expectations, std::back_inserter(here.expectations),
      [&](const Expectation& of) { return of.node.empty() || classes.contains(of.node); });
  std::vector<std::string> said;
  if (!unknown.empty()) {
    said.push_back(
        fmt::format("{} knows no node like {}; add it on a good one: ucx-bench check "
                    "--write-expect {}",
                    file, fmt::join(unknown, ", "), file));
  }
  if (!without.empty()) {
    said.push_back(
        fmt::format("{} expects nothing of nodes like {}", file, fmt::join(without, ", ")));
  }
  here.no_class = fmt::format("{}", fmt::join(said, "; "));
  return here;
}

/// Their nodes' classes say what is measured.
RemoteSupervisors gather_others(const SiteFile& site, const CheckOptions& o,
                                const GlobalOptions& global) {
  if (site.nodes.empty() || o.sides.number_of_hosts() == 1 || global.dry_run) return {};
  CheckPlans any(site.ranks, o.sides);
  any.rates(site.expectations.front());
  return wait_for_others(any.plans().front(), "check");
}

/// A run without cases: the outputs of an earlier check may not stay as if they were of this node.
Exit report_unknown_node(const SiteFile& site, const ExpectedHere& here, const CheckOptions& o,
                         const GlobalOptions& global) {
  o.run.outputs.check();
  auto result = examine_machine(global.command, {.topology = true});
  const auto exit = judge_site(site, here, {}, result, o, global.quiet);
  return worse(exit, write_examined(result, o.run.outputs, global));
}

Exit check_site(const CheckOptions& o, const GlobalOptions& global) {
  const auto site = read_site(o.expect);
  auto others = gather_others(site, o, global);
  std::vector<Json> hosts = {describe_host()};
  for (const auto& other : others) hosts.push_back(other->hello().value("facts", Json::object()));
  const auto here = expectations_here(site, o.expect, hosts);
  const auto say_goodbye = [&](Exit exit, const std::string& reason) {
    for (const auto& other : others) other->say_goodbye(exit, reason);
  };
  if (here.expectations.empty()) {
    if (global.dry_run) throw Failure(Exit::cannot_run, here.no_class);
    say_goodbye(Exit::cannot_run, here.no_class);
    return report_unknown_node(site, here, o, global);
  }
  if (global.dry_run && !here.no_class.empty()) {
    print_to(stderr, "ucx-bench: {}\n", here.no_class);
  }
  CheckPlans plans(site.ranks, o.sides);
  std::vector<NeededCases> needed;
  for (const auto& expectation : here.expectations) {
    auto& cases = needed.emplace_back();
    if (expectation.min_GBps || !expectation.carriers.empty()) {
      cases.rates = plans.rates(expectation);
    }
    if (expectation.max_us) cases.latencies = plans.latencies(expectation);
  }
  auto [result, exit] = measure_site(plans, o, global, true, others.empty() ? nullptr : &others);
  if (!result) return exit;
  say_goodbye(exit, text_at(result->run, "/reason", ""));
  exit = worse(exit, judge_site(site, here, needed, *result, o, global.quiet));
  exit = worse(exit, write_or_keep(result->file, run_text(*result)));
  return worse(exit, write_outputs(*result, o.run.outputs, global, false));
}

/// Every set that may be there; what is not is left out.
std::vector<Expectation> usual_expectations() {
  std::vector<Expectation> all;
  for (const auto* set : {"shm", "tcp", "ib"}) all.push_back({.transports = set});
  for (const auto* set : {"tcp,nvlink", "tcp,ib"}) {
    all.push_back({.transports = set, .memory = "cuda"});
  }
  return all;
}

/// The file to which this node's class is added; without classes where there is none yet. Throws
/// Failure(Exit::usage) where there is nothing to add.
SiteFile site_of_others(const CheckOptions& o, const NodeClass& here, bool ranks_given) {
  if (!std::filesystem::exists(o.write_expect)) return {.ranks = o.ranks, .expectations = {}};
  const auto site = read_site(o.write_expect);
  const auto* known = find_class(site, here);
  if (site.nodes.empty() || known != nullptr) {
    throw Failure(
        Exit::usage,
        fmt::format("--write-expect {}: it exists already{}; name another file, or "
                    "remove it",
                    o.write_expect,
                    known == nullptr ? "" : ", with nodes like this one ('" + known->name + "')"));
  }
  if (ranks_given && o.ranks != site.ranks) {
    throw Failure(Exit::usage, fmt::format("--ranks {}: {} has {}: leave it out", o.ranks,
                                           o.write_expect, site.ranks));
  }
  return site;
}

/// Which no class has.
std::string new_name(const SiteFile& site) {
  std::string name;
  for (std::size_t number = site.nodes.size() + 1; name.empty(); ++number) {
    const auto free = fmt::format("node{}", number);
    if (std::ranges::find(site.nodes, free, &NodeClass::name) == site.nodes.end()) name = free;
  }
  return name;
}

Exit begin_site(const CheckOptions& o, const GlobalOptions& global, bool ranks_given) {
  auto here = class_of_host(describe_host());
  const auto others = site_of_others(o, here, ranks_given);
  here.name = new_name(others);
  check_outputs({{"write-expect", o.write_expect}});
  if (o.ranks < 2) throw Failure(Exit::usage, "--ranks 1: check needs at least two");
  CheckPlans plans(others.ranks, o.sides);
  const auto usual = usual_expectations();
  for (const auto& expectation : usual) {
    plans.rates(expectation);
    plans.latencies(expectation);
  }
  const auto [result, exit] = measure_site(plans, o, global, false);
  if (!result) return exit;
  SiteFile site{.ranks = others.ranks, .nodes = {here}, .expectations = {}};
  const auto impossible = why_impossible(*result);
  for (std::size_t at = 0; at < usual.size(); ++at) {
    const auto& rates = result->cases.at(2 * at);
    const auto& latencies = result->cases.at(2 * at + 1);
    for (const auto* of : {&rates, &latencies}) {
      if (const auto why = impossible(*of); !why.empty()) {
        throw Failure(Exit::inconclusive,
                      fmt::format("--write-expect: no limit follows from {}: {}", of->key, why));
      }
    }
    auto more = expectations_like(usual[at], rates, latencies);
    for (auto& expectation : more) expectation.node = here.name;
    std::ranges::move(more, std::back_inserter(site.expectations));
  }
  const auto written = write_outputs(*result, o.run.outputs, global, false);
  if (exit != Exit::done || site.expectations.empty()) return worse(exit, Exit::cannot_run);
  if (result->run.contains("left_out")) {
    throw Failure(Exit::inconclusive,
                  fmt::format("--write-expect: not all launches fit into --max-time {}; raise it",
                              o.max_time));
  }
  const auto host = text_at(result->machine, "/hosts/0/name", "?");
  const auto quality = quality_of(*result);
  const auto comment = fmt::format(
      "# Limits from a measurement on {} (run {}),\n"
      "# quality {}:\n"
      "# the slowest pair's GB/s x {}, its one-way us x {}. Edit them, "
      "then:\n# {}\n",
      on_one_line(host), text_at(result->run, "/id", "?"), in_words(quality), rate_margin,
      time_margin, command_line({"ucx-bench", "check", "--expect", o.write_expect}));
  const auto text = others.nodes.empty()
                        ? site_text(site, comment)
                        : text_of(o.write_expect) + "\n" + more_site_text(site, comment);
  const auto begun = write_or_keep(o.write_expect, text);
  if (!global.quiet) print_to(stderr, "limits: {}\n", o.write_expect);
  if (quality.level == "poor" || quality.level == "failed") {
    print_to(stderr,
             "ucx-bench: these limits are of a {} run (the file says why): see ucx-bench doctor, "
             "then write them again\n",
             quality.level);
  }
  return worse(written, begun);
}

Exit run_check(CheckOptions& o, const CLI::App& command, const GlobalOptions& global) {
  const RankPlacement usual{.bind = "auto", .wrap = "", .net_devices = "auto"};
  if (const auto exit = follow_if_not_first(o.sides, usual, global)) return *exit;
  if (o.expect.empty() == o.write_expect.empty()) {
    throw Failure(
        Exit::usage,
        "check: give one of --expect FILE.toml, and --write-expect FILE.toml to begin one");
  }
  const bool ranks_given = command.get_option("--ranks")->count() > 0;
  if (o.expect.empty()) return begin_site(o, global, ranks_given);
  if (ranks_given) {
    throw Failure(Exit::usage, fmt::format("--ranks: {} says how many: leave it out", o.expect));
  }
  return check_site(o, global);
}

}  // namespace

AddedCommand add_check(CLI::App& app) {
  auto* command =
      app.add_subcommand("check", "check this machine against its site's limits, in some seconds");
  add_examples(*command, {"check --write-expect site.toml", "check --expect site.toml"});
  const auto o = std::make_shared<CheckOptions>();
  command
      ->add_option("--expect", o->expect,
                   "[[expect]] transports = \"tcp\", min_GBps = 2, max_us = 40, path = \"tcp\" …")
      ->type_name("FILE.toml");
  command
      ->add_option("--write-expect", o->write_expect,
                   "begin such a file from what is measured now, less a margin")
      ->type_name("FILE.toml");
  command
      ->add_option("-n,--ranks", o->ranks,
                   "with --write-expect: processes, of which every pair is measured")
      ->group("ranks")
      ->check(in_range(1, 1024))
      ->capture_default_str();
  add_sides(*command, o->sides);
  command->add_option("--max-time", o->max_time, "no launch begins that would end later")
      ->group("sample")
      ->type_name("TIME")
      ->capture_default_str();
  o->run.add_outputs(*command);
  o->run.outputs.add_check_options(*command);
  return {command,
          [o, command](const GlobalOptions& global) { return run_check(*o, *command, global); }};
}

}  // namespace ucxbench
