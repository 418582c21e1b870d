#include "bench/cli/commands/ab_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <optional>
#include <random>
#include <string_view>
#include <utility>

#include "bench/cli/commands/work_folder.hpp"
#include "bench/cli/plan/dry_run.hpp"
#include "bench/cli/plan/estimate.hpp"
#include "harness/analysis/annotate.hpp"
#include "harness/core/build_info.hpp"
#include "harness/core/files.hpp"
#include "harness/core/print.hpp"
#include "harness/core/read_json.hpp"
#include "harness/core/secret.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"
#include "harness/launch/duet.hpp"
#include "harness/result/events.hpp"
#include "harness/result/trouble.hpp"
#include "harness/result/words.hpp"
#include "harness/run/probe.hpp"

namespace ucxbench {
namespace {

namespace fs = std::filesystem;

constexpr const char* part_name = "launch.json";

// A dry run starts no ranks.
constexpr std::chrono::seconds longest_answer{60};

// The last line that a program of ours complains with, else the last that it says.
std::string complaint_of(const ProgramEnd& end) {
  constexpr std::string_view ours = "ucx-bench: ";
  std::string last;
  bool complains = false;
  for (const auto line : split_text(trim_text(end.said), '\n')) {
    if (complains && !line.starts_with(ours)) continue;
    complains = line.starts_with(ours);
    last = complains ? line.substr(ours.size()) : line;
  }
  return last;
}

std::string how_it_ended(const ProgramEnd& end) {
  const auto how = end.signal != 0 ? fmt::format("was killed by signal {} ({})", end.signal,
                                                 strsignal(end.signal))
                                   : fmt::format("ended with status {}", end.status);
  const auto complaint = complaint_of(end);
  return complaint.empty() ? how : how + ": " + complaint;
}

// One of ours, or lost.
Exit exit_of(const ProgramEnd& end) {
  constexpr std::array ours = {Exit::done,       Exit::gate, Exit::usage,        Exit::cannot_run,
                               Exit::wrong_data, Exit::lost, Exit::inconclusive, Exit::interrupted};
  const auto exit = static_cast<Exit>(end.status);
  if (end.signal != 0 || std::ranges::find(ours, exit) == ours.end()) return Exit::lost;
  return exit;
}

DuetSide side_of(const AbSide& side) {
  return side.name == "base" ? DuetSide::base : DuetSide::now;
}

DuetSide other_of(DuetSide side) { return side == DuetSide::base ? DuetSide::now : DuetSide::base; }

// What the side's program says of itself and UCX; null where it does not answer.
Json probe_of(const AbSide& side, Signals& signals) {
  const auto end = run_program({.argv = {side.program, probe_command},
                                .environment = environment_of(side),
                                .limit = longest_answer},
                               signals);
  auto answer = json_or_null(split_text(trim_text(end.out), '\n').back());
  return answer.is_object() ? answer : Json();
}

// Of a side whose program refuses its environment: which variable is why.
void refuse_unreadable(const AbSide& side, Signals& signals) {
  const auto answer = probe_of(side, signals);
  if (!answer.contains("unreadable")) return;
  for (const auto& of : answer.at("unreadable").get<std::vector<UnreadableSetting>>()) {
    if (!side.added.contains(of.name)) continue;
    throw Failure(Exit::usage,
                  fmt::format("--{}-env {}={}: {}", side.name, of.name, of.value, of.why));
  }
}

}  // namespace

std::vector<std::string> find_unused(const AbSide& side, Signals& signals) {
  const bool any = std::ranges::any_of(
      side.added, [](const auto& variable) { return variable.first.starts_with("UCX_"); });
  std::optional<std::vector<std::string>> unused;
  for (const auto& environment : any ? talkative_environments(side) : std::vector<Variables>()) {
    const auto end = run_program({.argv = {side.program, probe_command, open_word},
                                  .environment = environment,
                                  .limit = longest_answer},
                                 signals);
    if (end.signal != 0 || end.status != 0) return {};
    const auto here = unused_in(side, end.out + "\n" + end.said);
    if (!unused) unused = here;
    std::erase_if(*unused, [&](const std::string& name) {
      return std::ranges::find(here, name) == here.end();
    });
  }
  return unused.value_or(std::vector<std::string>());
}

namespace {

void say_unused(const AbSide& side) {
  for (const auto& name : side.unused) {
    print_to(stderr,
             "--{}-env {}={}: UCX {} knows it and does not use it in these cases: it changes "
             "nothing\n",
             side.name, name, side.added.at(name), text_at(side.plan, "/ucx/version", "?"));
  }
}

void say_same_builds(const AbSide& base, const AbSide& now) {
  const auto names = same_builds(base, now);
  if (names.empty()) return;
  print_to(stderr,
           "the files of {} differ between base and new, but their build ids are equal: they are "
           "most likely the same code\n",
           join(names, ", "));
}

// Of another warning that names a variable, whoever set it hears after the first launch.
void say_warnings(const AbSide& side, const Result& measured) {
  for (const auto& [kind, line] : ucx_warnings_of(measured.ucx)) {
    for (const auto& [name, value] : side.added) {
      if (!name.starts_with("UCX_") || line.find(name) == std::string::npos) continue;
      if (std::ranges::find(side.unused, name) != side.unused.end()) continue;
      print_to(stderr, "--{}-env {}={}: UCX says: {}\n", side.name, name, value, line);
    }
  }
}

// Null where there is none.
Json plan_in(const fs::path& file) {
  auto plan = json_or_null(text_of(file));
  return plan.is_object() && plan.value("schema", "") == plan_schema ? plan : Json();
}

// One that writes no plan answers its own question about UCX. Null where it does not.
Json plan_of_older_build(const AbSide& side, Signals& signals) {
  const auto answer = probe_of(side, signals);
  const Json::json_pointer library("/ucx/library");
  if (!answer.contains(library)) return {};
  const Json libraries = {{"libucp.so.0", {{"path", answer.at(library)}, {"build", nullptr}}}};
  return {{"ucx", {{"version", answer.at("ucx").at("version")}, {"library", answer.at(library)}}},
          {"libraries", libraries}};
}

}  // namespace

AbRun::AbRun(std::string suite, const AbExtent& extent, AbMethod method,
             const GlobalOptions& global)
    : suite_(std::move(suite)),
      course_(extent),
      may_be_equal_(extent.may_be_equal),
      method_(method),
      global_(global) {
  if (method == AbMethod::turns) {
    no_duets_ = "--method turns";
  } else {
    duets_ = std::make_unique<DuetFile>(method == AbMethod::duet);
  }
}

std::vector<std::string> AbRun::words_for(const AbSide& side,
                                          const std::vector<std::string>& global,
                                          int launch) const {
  std::vector<std::string> words = {side.program};
  words.insert(words.end(), global.begin(), global.end());
  // Beyond the launches of all cases they begin anew (add); no program need know that there are
  // more.
  const auto number = fmt::format("{}/{}", launch % course_.launches() + 1, course_.launches());
  words.insert(words.end(), {"suite", suite_, "--launch", number});
  for (const auto& key : course_.only()) words.insert(words.end(), {"--only", key});
  if (duets_) words.insert(words.end(), {"--duet", duets_->option(side_of(side))});
  return words;
}

ProgramEnd AbRun::answer_of(const AbSide& side, Signals& signals, const fs::path& plan) const {
  auto words = words_for(side, {"--dry-run"}, course_.done());
  if (!plan.empty()) words.insert(words.end(), {"--json", plan.string()});
  return run_program(
      {.argv = std::move(words), .environment = environment_of(side), .limit = longest_answer},
      signals);
}

std::array<std::string, 2> AbRun::ask(AbSide& base, AbSide& now, Signals& signals) {
  const WorkFolder work(fs::temp_directory_path());
  std::array<std::string, 2> answers;
  for (auto* side : {&base, &now}) {
    const auto plan = work.path() / (side->name + ".json");
    auto end = answer_of(*side, signals, plan);
    const auto good = [&] { return end.signal == 0 && end.status == 0; };
    if (!good()) refuse_unreadable(*side, signals);
    if (!good() && duets_ && method_ == AbMethod::automatic && !signals.stop()) {
      const auto duets = std::exchange(duets_, nullptr);
      const auto said = how_it_ended(end);
      end = answer_of(*side, signals, plan);
      if (good()) {
        no_duets_ = fmt::format("--{} {} {}", side->name, side->program, said);
        print_to(stderr, "--{} {}: no duets, all is measured in turns: it {}\n", side->name,
                 side->program, said);
      }
    }
    if (!good()) {
      throw Failure(
          signals.stop() ? Exit::interrupted : Exit::usage,
          fmt::format("--{} {}: cannot measure this suite{}: it {}{}", side->name, side->program,
                      duets_ ? " as duets" : "", how_it_ended(end),
                      duets_ ? "" : "; give a build that has 'suite --launch' and these cases"));
    }
    answers[side == &now] = std::move(end.out);
    side->plan = plan_in(plan);
    if (side->plan.is_null()) side->plan = plan_of_older_build(*side, signals);
  }
  for (const auto* side : {&base, &now}) check_side(*side);
  if (!may_be_equal_) check_plans(base, now);
  for (auto* side : {&base, &now}) {
    side->unused = find_unused(*side, signals);
    say_unused(*side);
  }
  say_same_builds(base, now);
  side_by_side_ = duets_ && duets_->any(DuetSide::base) && duets_->any(DuetSide::now);
  course_.expect({base.plan, now.plan});
  return answers;
}

Json AbRun::facts_of(const AbSide& side) const {
  Json facts = {{"side", side.name},
                {"program", side.program},
                {"environment", without_secrets(side.added)},
                {"ucx", ucx_of(side)},
                {"side_by_side", side_by_side()},
                {"turns", side.turns}};
  if (!course_.looks().empty()) facts["looks"] = course_.looks();
  if (course_.may_go_on()) facts["planned"] = course_.launches();
  if (!course_.only().empty()) facts["only"] = course_.only();
  if (!no_duets_.empty()) facts["in_turns"] = no_duets_;
  if (!side.unused.empty()) facts["unused"] = side.unused;
  return facts;
}

void AbRun::add(AbSide& side, const std::filesystem::path& part, int launch) const {
  auto measured = read_result(part);
  for (auto& of : measured.cases) {
    for (auto& record : of.launches) record.launch += launch - launch % course_.launches();
  }
  const auto has_it = [launch](const Case& of) {
    return std::ranges::find(of.launches, launch, &LaunchRecord::launch) != of.launches.end();
  };
  if (std::ranges::any_of(measured.cases, has_it)) side.turns.push_back(turns_);
  const Json now = {{"run", {{"state", "interrupted"}, {"reason", ""}, {"ab", facts_of(side)}}}};
  if (side.result) {
    // Of these the first part's stay.
    measured.topology = Json::object();
    measured.findings = Json::array();
    side.kept->add({{"part", to_json(measured)}});
    side.kept->add(now);
    return;
  }
  say_warnings(side, measured);
  side.result = std::move(measured);
  auto& run = side.result->run;
  side.result->file = side.file;
  run["command"] = global_.command;
  run["asked"] = global_.asked;
  run.erase("transfers");
  apply_event(*side.result, now);
  keep(side);
}

void AbRun::keep(AbSide& side) const {
  side.kept.emplace(*side.result, [](const std::string& line) { print_to(stderr, "{}\n", line); });
  side.kept->begin(0);
}

int AbRun::resume(AbSide& base, AbSide& now) {
  std::array<Result, 2> runs;
  for (const auto* side : {&base, &now}) {
    std::error_code ignored;
    if (!std::filesystem::exists(side->file, ignored)) return 0;
    auto& run = runs[side == &now];
    run = read_result(side->file);
    if (text_at(run.run, "/state", "") != "interrupted" || !run.run.contains("ab")) return 0;
    if (run.build.value("commit", Json()) != Json(build_info().commit)) return 0;
  }
  for (auto* side : {&base, &now}) {
    side->result = std::move(runs[side == &now]);
    side->result->file = side->file;
    side->turns = side->result->run.at("ab").value("turns", std::vector<int>());
    for (const auto turn : side->turns) turns_ = std::max(turns_, turn + 1);
    keep(*side);
  }
  course_.resume(*base.result, *now.result);
  return course_.done();
}

void AbRun::say_turn(const std::string& name) const {
  if (global_.quiet || global_.progress == "never") return;
  std::string left;
  if (const auto since = turns_ - turns_before_; since > 0) {
    const std::chrono::duration<double> spent = AbClock::now() - begin_;
    double seconds = spent.count() / since * (2 * course_.launches() - turns_);
    if (course_.is_beyond()) seconds = spent.count();
    if (const auto time = course_.time_left()) {
      seconds = std::clamp(std::chrono::duration<double>(*time).count(), 0.0, seconds);
    }
    left =
        fmt::format(", {} {} left", course_.is_beyond() ? "at most" : "about", rough_time(seconds));
  }
  print_to(stderr, "{}{}\n", name, left);
}

AbRun::Turn AbRun::take_in(AbSide& side, const std::string& name, const ProgramEnd& end,
                           const std::filesystem::path& part, int launch) {
  if (global_.verbose) print_to(stderr, "{}", end.said);
  Turn turn{exit_of(end)};
  if (turn.exit != Exit::done) turn.problem = fmt::format("{} {}", name, how_it_ended(end));
  try {
    if (std::filesystem::exists(part)) {
      add(side, part, launch);
    } else if (turn.exit == Exit::done) {
      turn = {Exit::usage, fmt::format("{}: '{}' measured nothing; give a build of ucx-bench", name,
                                       side.program)};
    }
  } catch (const Failure& failure) {
    turn = {worse(turn.exit, failure.exit()), fmt::format("{}: {}", name, failure.what())};
  }
  ++turns_;
  return turn;
}

AbRun::Turn AbRun::take_turns(const std::vector<AbSide*>& sides, int launch, Signals& signals) {
  if (signals.stop()) return {Exit::interrupted, signals.reason()};
  const auto number = course_.is_beyond()
                          ? fmt::format("launch {}, {}", launch + 1,
                                        counted(course_.only().size(), "undecided case"))
                          : fmt::format("launch {}/{}", launch + 1, course_.launches());
  say_turn(number + (sides.size() == 1 ? " " + sides.front()->name : ""));
  if (duets_) {
    const auto first = side_of(*sides.front());
    duets_->begin(first);
    // So that it says why its cases are no duets, and waits for nobody.
    if (sides.size() == 1) duets_->leave(other_of(first));
  }
  std::vector<std::unique_ptr<WorkFolder>> work;
  std::vector<Program> programs;
  for (const auto* side : sides) {
    work.push_back(std::make_unique<WorkFolder>(side->file.parent_path()));
    auto words = words_for(*side, {"--quiet", "--progress", "never"}, launch);
    words.insert(words.end(), {"--json", (work.back()->path() / part_name).string()});
    programs.push_back({.argv = std::move(words), .environment = environment_of(*side)});
  }
  const auto ends = run_programs(programs, signals, [&](std::size_t at) {
    if (duets_) duets_->leave(side_of(*sides[at]));
  });
  Turn worst;
  for (std::size_t at = 0; at < sides.size(); ++at) {
    const auto turn = take_in(*sides[at], fmt::format("{} {}", number, sides[at]->name), ends[at],
                              work[at]->path() / part_name, launch);
    // Of two that failed, one may have done so for the other's sake.
    const bool says_less = worst.problem.find(other_side_ended) != std::string::npos;
    if (worse(worst.exit, turn.exit) != worst.exit || (says_less && turn.exit == worst.exit)) {
      worst = turn;
    }
  }
  return worst;
}

AbRun::Turn AbRun::measure_launch(AbSide& base, AbSide& now, int launch, Signals& signals) {
  // Of duets it is drawn, so that nothing but chance tells the sides apart.
  const bool base_first = side_by_side_ ? std::random_device()() % 2 == 0 : launch % 2 == 0;
  const std::vector<AbSide*> order = {base_first ? &base : &now, base_first ? &now : &base};
  if (side_by_side_) return take_turns(order, launch, signals);
  const auto first = take_turns({order[0]}, launch, signals);
  return first.exit == Exit::done ? take_turns({order[1]}, launch, signals) : first;
}

Exit AbRun::finish(AbSide& side, const AbSide& other, const Turn& last) const {
  if (!side.result) return Exit::done;
  auto& result = *side.result;
  result.run["ab"] = facts_of(side);
  if (other.result) result.run["ab"]["other"] = other.result->run.value("id", Json());
  if (!course_.left_out().empty()) result.run["left_out"] = course_.left_out();
  const auto* state = last.exit == Exit::done          ? "complete"
                      : last.exit == Exit::interrupted ? "interrupted"
                                                       : "failed";
  result.run["state"] = state;
  result.run["reason"] = last.problem;
  annotate(result);
  result = side.kept->finish();
  side.file = side.kept->file();
  return side.kept->at_its_place() ? Exit::done : Exit::lost;
}

void AbRun::look(AbSide& base, AbSide& now, Signals& signals) {
  // As the files will have it.
  for (auto* side : {&base, &now}) {
    auto facts = facts_of(*side);
    facts["other"] = (side == &base ? now : base).result->run.value("id", Json());
    side->kept->add({{"run", {{"ab", std::move(facts)}}}});
  }
  if (!course_.choose(*base.result, *now.result)) return;
  for (const auto* side : {&base, &now}) {
    const auto end = answer_of(*side, signals);
    if ((end.signal == 0 && end.status == 0) || signals.stop()) continue;
    print_to(stderr, "--{} {}: {}: it {}\n", side->name, side->program, course_.take_back(),
             how_it_ended(end));
    return;
  }
}

Exit AbRun::measure(AbSide& base, AbSide& now, Signals& signals) {
  begin_ = AbClock::now();
  turns_before_ = turns_;
  course_.begin();
  Turn last;
  while (last.exit == Exit::done && !course_.is_over()) {
    const auto begin = AbClock::now();
    last = measure_launch(base, now, course_.done(), signals);
    // One that has just begun dies of Ctrl-C as any program does.
    if (last.exit == Exit::lost && signals.stop()) last = {Exit::interrupted, signals.reason()};
    if (last.exit != Exit::done) break;
    course_.took(AbClock::now() - begin, *base.result, *now.result);
    if (course_.is_look()) look(base, now, signals);
  }
  const auto kept = worse(finish(base, now, last), finish(now, base, last));
  if (!last.problem.empty()) print_to(stderr, "ucx-bench: {}\n", last.problem);
  if (!course_.left_out().empty()) print_to(stderr, "{}\n", course_.left_out());
  if (!global_.quiet) print_to(stderr, "{}\n", course_.totals());
  return worse(last.exit, kept);
}

}  // namespace ucxbench
