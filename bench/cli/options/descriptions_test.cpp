// The descriptions of all benchmarks: what each says of its parameters, and that cases which were
// recorded before there were descriptions are still the same.

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include "bench/cli/options/measuring_options.hpp"
#include "bench/cli/plan/plan_of_args.hpp"
#include "bench/cli/plan/random_command.hpp"
#include "harness/core/failure.hpp"
#include "harness/run/benchmark.hpp"
#include "harness/run/rank_plan.hpp"

namespace ucxbench {
namespace {

using Sorted = nlohmann::json;  // objects compare whatever the order of their members

Json recorded_cases() {
  std::ifstream file(UCXBENCH_RECORDED_CASES);
  return Json::parse(file);
}

std::string key_of(const Benchmark& benchmark, const void* parameters) {
  const auto& described = benchmark.parameters;
  return key_of(benchmark.name, described.fields, parameters, described.usual.get());
}

// What every version before them did, whatever its benchmark.
Json with_what_is_new(const Benchmark& benchmark, Json parameters) {
  parameters.emplace("progress_mode", "poll");
  if (benchmark.parameters.find("comm") != nullptr) parameters.emplace("comm", "ucx");
  if (benchmark.parameters.find("expected") != nullptr) parameters.emplace("expected", false);
  if (benchmark.parameters.find("buffers") != nullptr) parameters.emplace("buffers", "warm");
  if (benchmark.parameters.find("pairs") != nullptr) parameters.emplace("pairs", "neighbours");
  if (benchmark.parameters.find("threads") != nullptr) {
    parameters.emplace("threads", 1);
    parameters.emplace("workers", "own");
    parameters.emplace("endpoints", 1);
  }
  if (benchmark.parameters.find("error-mode") != nullptr) {
    parameters.update({{"error_mode", "none"},
                       {"buffer", "contiguous"},
                       {"register", "ucx"},
                       {"receives", "expected"},
                       {"header_bytes", nullptr}});
  }
  return parameters;
}

// Command lines with the cases that the version before descriptions recorded for each: key and
// parameters. The file is not to be written anew.
TEST(RecordedCases, GoThroughTheStructUnchanged) {
  for (const auto& run : recorded_cases()) {
    const auto args = run.at("args").get<std::string>();
    const auto* benchmark = find_benchmark(args.substr(0, args.find(' ')));
    ASSERT_NE(benchmark, nullptr) << args;
    for (const auto& recorded : run.at("cases")) {
      const auto read = benchmark->parameters.copy(benchmark->parameters.usual.get());
      from_json(benchmark->parameters.fields, recorded.at("parameters"), read.get());
      EXPECT_EQ(Sorted(to_json(benchmark->parameters.fields, read.get())),
                Sorted(with_what_is_new(*benchmark, recorded.at("parameters"))));
      EXPECT_EQ(key_of(*benchmark, read.get()), recorded.at("key").get<std::string>()) << args;
    }
  }
}

// The order of the cases too, where they were measured in the same place.
TEST(RecordedCases, AreWhatTheirCommandLinesStillAskFor) {
  for (const auto& run : recorded_cases()) {
    const auto args = run.at("args").get<std::string>();
    const auto plan = plan_of_args(args, 1);
    const auto& benchmark = *find_benchmark(plan.benchmark);
    std::vector<Sorted> asked, recorded;
    for (const auto& of : run.at("cases")) {
      const auto& parameters = of.at("parameters");
      Place place;
      place.transports = parameters.at("transports").get<std::vector<std::string>>();
      place.memory = parameters.at("memory").get<std::vector<std::string>>();
      place.net_devices = parameters.at("net_devices").get<std::string>();
      place.ranks = parameters.at("ranks").get<int>();
      recorded.push_back(
          {{"key", of.at("key")}, {"parameters", with_what_is_new(benchmark, parameters)}});
      if (asked.size() >= recorded.size()) continue;
      for (const auto& planned : plan.cases(place, place.ranks)) {
        asked.push_back({{"key", planned.key}, {"parameters", planned.parameters}});
      }
    }
    EXPECT_EQ(asked, recorded) << args;
  }
}

// Parameters that newer versions have added are what they were without them.
TEST(RecordedCases, MayLackParameters) {
  for (const auto& benchmark : benchmarks()) {
    const auto read = benchmark.parameters.copy(benchmark.parameters.usual.get());
    from_json(benchmark.parameters.fields, Json::object(), read.get());
    EXPECT_EQ(to_json(benchmark.parameters.fields, read.get()),
              to_json(benchmark.parameters.fields, benchmark.parameters.usual.get()));
  }
}

struct Described {
  const Benchmark* benchmark;
  const Field* field;
};

std::vector<Described> all_asked() {
  std::vector<Described> all;
  for (const auto& benchmark : benchmarks()) {
    for (const auto& field : benchmark.parameters.fields) {
      if (field.asked) all.push_back({&benchmark, &field});
    }
  }
  return all;
}

class Descriptions : public testing::TestWithParam<Described> {
 protected:
  const Benchmark& benchmark_ = *GetParam().benchmark;
  const Field& field_ = *GetParam().field;
  const void* usual_ = benchmark_.parameters.usual.get();

  // A text that sets another value than the default.
  std::string another_value() const {
    switch (field_.type) {
      case FieldType::flag:
        return "true";
      case FieldType::number:
        return text_of(field_, field_.get(usual_)) == "3" ? "2" : "3";
      case FieldType::real:
        return "0.25";
      case FieldType::count:
        return "12K";
      case FieldType::size:
        return "12KiB";
      case FieldType::time:
        return "70ms";
      case FieldType::numbers:
        return "2,5-7";
      case FieldType::choice:
      case FieldType::text:
      case FieldType::texts:
        break;
    }
    if (field_.choices.empty()) return "another";
    const bool first = field_.choices.front() == text_of(field_, field_.get(usual_));
    return first ? field_.choices.back() : field_.choices.front();
  }
};

TEST_P(Descriptions, SayWhatTheyAre) {
  EXPECT_FALSE(field_.help.empty());
  EXPECT_FALSE(field_.group.empty());
  EXPECT_FALSE(to_string(field_.type).empty());
  EXPECT_EQ(field_.least.has_value(), field_.most.has_value());
  const bool number = field_.type == FieldType::number || field_.type == FieldType::real;
  EXPECT_TRUE(!number || field_.least) << "a number without a range";
}

TEST_P(Descriptions, TakeTheirChoicesAlone) {
  const auto object = benchmark_.parameters.copy(usual_);
  for (const auto& choice : field_.choices) {
    EXPECT_NO_THROW(set_value(field_, object.get(), value_of(field_, choice))) << choice;
    if (field_.type == FieldType::choice) {
      EXPECT_EQ(field_.get(object.get()), Json(choice));
    }
  }
  if (field_.type != FieldType::choice) return;
  EXPECT_FALSE(field_.choices.empty());
  EXPECT_THROW(set_value(field_, object.get(), "no such choice"), Failure);
}

TEST_P(Descriptions, HaveADefaultThatTheyTake) {
  const auto value = field_.read(usual_);
  if (value.is_null() || field_.type == FieldType::flag || value == Json("")) {
    return;
  }
  const auto object = benchmark_.parameters.copy(usual_);
  set_value(field_, object.get(), value_of(field_, text_of(field_, value)));
  EXPECT_EQ(field_.read(object.get()), value);
  if (field_.least) {
    EXPECT_GE(value.get<double>(), *field_.least);
    EXPECT_LE(value.get<double>(), *field_.most);
  }
}

TEST_P(Descriptions, RefuseWhatIsOutOfRange) {
  if (!field_.most) return;
  const Json above = field_.type == FieldType::real ? Json(*field_.most * 2)
                                                    : Json(std::llround(*field_.most) + 1);
  EXPECT_THROW(value_of(field_, text_of(field_, above)), Failure) << text_of(field_, above);
}

TEST_P(Descriptions, GoFromTheCommandLineToTheRunFileToTheKey) {
  const auto& fields = benchmark_.parameters.fields;
  CLI::App app;
  MeasuringOptions options(benchmark_);
  add_options(app, options);
  std::vector<std::string> words = {"--" + field_.name};
  if (field_.type != FieldType::flag) words.insert(words.begin(), another_value());
  app.parse(words);
  const void* given = options.asked.parameters.get();
  EXPECT_NE(field_.read(given), field_.read(usual_));

  const auto again = benchmark_.parameters.copy(usual_);
  from_json(fields, to_json(fields, given), again.get());
  EXPECT_EQ(to_json(fields, again.get()), to_json(fields, given));
  if (field_.recorded) {
    EXPECT_EQ(field_.read(again.get()), field_.read(given));
  }
  const auto nothing = nothing_asked(benchmark_.parameters);
  const bool in_key =
      key_of(benchmark_, again.get()) != key_of(benchmark_, nothing.parameters.get());
  EXPECT_EQ(in_key, field_.key != Key::never) << key_of(benchmark_, again.get());

  const auto typed = text_of(field_, field_.read(again.get()));
  if (field_.type == FieldType::flag || !field_.recorded) return;
  const auto once_more = benchmark_.parameters.copy(usual_);
  set_value(field_, once_more.get(), value_of(field_, typed));
  EXPECT_EQ(field_.read(once_more.get()), field_.read(given)) << typed;
}

INSTANTIATE_TEST_SUITE_P(All, Descriptions, testing::ValuesIn(all_asked()), [](const auto& tested) {
  auto name = tested.param.benchmark->name + "_" + tested.param.field->name;
  std::ranges::replace(name, '-', '_');
  return name;
});

// A clash is silent where both have one type. Of options GoogleTest finds it: each names a test
// above.
// Plans come from other hosts, too.
TEST(Parameters, ThatMayBePathsAreNoPartOfAPlan) {
  int texts = 0;
  for (const auto& benchmark : benchmarks()) {
    for (const auto& field : benchmark.parameters.fields) {
      if (field.type != FieldType::text && field.type != FieldType::texts) continue;
      ++texts;
      const Json parameters = {{field.recorded_name(), "/etc/hostname"}};
      const auto told = parameters_for_ranks(benchmark.name, parameters);
      const Json plan = {{"asked", Json::object()},
                         {"launch", 0U},
                         {"first_turn", 0U},
                         {"benchmark", ""},
                         {"cases", {{{"index", 0}, {"parameters", told}}}}};
      if (told.empty()) {
        EXPECT_NO_THROW(check_rank_plan(plan)) << field.name;
      } else {
        EXPECT_THROW(check_rank_plan(plan), Failure) << field.name;
      }
    }
  }
  EXPECT_GT(texts, 20);
  EXPECT_THROW(check_rank_plan({{"asked", Json::object()}}), Failure) << "not whole";
}

TEST(Parameters, HaveNamesOfTheirOwn) {
  for (const auto& benchmark : benchmarks()) {
    std::set<std::string> names;
    for (const auto& field : benchmark.parameters.fields) {
      if (!field.recorded) continue;
      EXPECT_TRUE(names.insert(field.recorded_name()).second)
          << benchmark.name << " has two parameters " << field.recorded_name();
    }
  }
}

// Without its column, rows of a table look alike.
TEST(Shows, NamesParametersThatThereAre) {
  for (const auto& benchmark : benchmarks()) {
    const auto recorded = to_json(benchmark.parameters.fields, benchmark.parameters.usual.get());
    for (const auto& axis : benchmark.shows.axes) {
      EXPECT_TRUE(recorded.contains(axis.parameter)) << benchmark.name << ": " << axis.parameter;
    }
    if (benchmark.shows.amount) {
      EXPECT_TRUE(recorded.contains(benchmark.shows.amount->parameter))
          << benchmark.name << ": " << benchmark.shows.amount->parameter;
    }
  }
}

TEST(SharedOptions, OfAllBenchmarksSayWhatTheyAreInTheRunFile) {
  for (const auto& benchmark : benchmarks()) {
    std::map<std::string, Json> options;
    for (const auto& option : options_of(benchmark))
      options[option.at("name").get<std::string>()] = option;
    for (const auto* name : {"memory", "transports"}) {
      EXPECT_EQ(options.at(name).at("key"), "always") << benchmark.name;
      EXPECT_EQ(options.at(name).at("parameter"), name) << benchmark.name;
    }
    EXPECT_EQ(options.at("net-devices").at("parameter"), "net_devices") << benchmark.name;
    EXPECT_EQ(options.at("launches").at("key"), "never") << benchmark.name;
  }
}

TEST(SharedOptions, HaveARangeWhereTheyAreNumbers) {
  for (const auto& benchmark : benchmarks()) {
    for (const auto& option : options_of(benchmark)) {
      if (option.at("type") != "number" && option.at("type") != "real") continue;
      EXPECT_FALSE(option.at("least").is_null()) << benchmark.name << " --" << option.at("name");
    }
  }
}

// Of every option, also of those that all benchmarks share.
TEST(Choices, StandInTheHelpAndInWhatScriptsRead) {
  std::map<std::string, Json> choices;
  for (const auto& benchmark : benchmarks()) {
    for (const auto& option : options_of(benchmark)) {
      const auto name = option.at("name").get<std::string>();
      const auto help = option.at("help").get<std::string>();
      EXPECT_EQ(help.find("{}"), std::string::npos) << name;
      const auto& listed = choices[benchmark.name + " --" + name] = option.value("choices", Json());
      EXPECT_TRUE(option.at("type") != "choice" || listed.is_array()) << name;
      if (listed.is_null()) continue;
      std::size_t at = 0;
      for (const auto& choice : listed) {
        at = help.find(choice.get<std::string>(), at);
        ASSERT_NE(at, std::string::npos) << name << " does not name " << choice << ": " << help;
      }
    }
  }
  EXPECT_EQ(choices["pingpong --api"],
            Json({"tag", "stream", "am", "put", "get", "fadd", "swap", "cswap"}));
  EXPECT_EQ(choices["pingpong --measure"], Json({"latency", "bandwidth"}));
  EXPECT_EQ(choices["pingpong --transports"], Json({"self", "shm", "tcp", "nvlink", "ib", "auto"}));
  EXPECT_EQ(choices["pingpong --gdr"], Json({"auto", "on", "off"}));
  EXPECT_EQ(choices["pingpong --memory"].size(), 12U);
  EXPECT_EQ(choices["kv --model"].size(), 8U);
  EXPECT_EQ(choices["merge --scaling"], Json({"weak", "strong"}));
  EXPECT_EQ(choices["merge --progress-mode"], Json({"auto", "poll", "event"}));
  EXPECT_EQ(choices["merge --rows"], Json());
}

TEST(RandomCommands, HaveEveryChoiceAndNoOther) {
  std::map<std::string, std::set<std::string>> drawn;
  for (std::uint64_t round = 0; round < 5000; ++round) {
    const auto command = random_command(7, round, 0);
    for (const auto& [name, value] : command.options) {
      drawn[command.benchmark + " --" + name].insert(value);
    }
  }
  for (const auto& [benchmark, field] : all_asked()) {
    const auto found = drawn.find(benchmark->name + " --" + field->name);
    if (field->type != FieldType::choice || found == drawn.end()) continue;
    std::set<std::string> all(field->choices.begin(), field->choices.end());
    if (field->name == "check") all.erase("off");  // what is drawn is verified
    EXPECT_EQ(found->second, all) << found->first;
  }
  EXPECT_TRUE(drawn.contains("pingpong --api"));
}

TEST(Presets, AreWhatLikeTakesAndNameOptionsThatThereAre) {
  for (const auto& benchmark : benchmarks()) {
    EXPECT_EQ(benchmark.parameters.find("like") != nullptr, !benchmark.presets.empty())
        << benchmark.name;
    for (const auto& preset : benchmark.presets) {
      for (const auto& amount : preset.amounts) {
        EXPECT_NE(benchmark.parameters.find(amount.option), nullptr) << amount.option;
      }
      for (const auto& [option, text] : preset.others) {
        const auto* field = benchmark.parameters.find(option);
        ASSERT_NE(field, nullptr) << option;
        EXPECT_NO_THROW(value_of(*field, text));
      }
    }
  }
}

TEST(Usages, HaveTheDefaultForTheUsualValue) {
  for (const auto& benchmark : benchmarks()) {
    const auto& described = benchmark.parameters;
    const auto usual = to_json(described.fields, described.usual.get());
    for (const auto& use : benchmark.shows.usages) {
      ASSERT_TRUE(usual.contains(use.parameter)) << use.parameter;
      EXPECT_EQ(usual.at(use.parameter), use.usual) << use.parameter;
    }
  }
}

TEST(Values, OutsideARangeAreRefusedWithIt) {
  const auto* iterations = find_benchmark("p2p")->parameters.find("iterations");
  for (const auto* wrong : {"0", "1000001", "x", "3.5", "", "1e3"}) {
    try {
      value_of(*iterations, wrong);
      FAIL() << wrong;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.what(), "--iterations: '" + std::string(wrong) +
                                    "': expected a whole number, 1 to 1000000");
    }
  }
}

}  // namespace
}  // namespace ucxbench
