#include "bench/cli/options/measuring_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "bench/cli/options/field_options.hpp"
#include "bench/cli/options/help.hpp"
#include "bench/cli/options/options.hpp"
#include "harness/core/text.hpp"

namespace ucxbench {

MeasuringOptions::MeasuringOptions(const Benchmark& benchmark)
    : of(benchmark), asked(nothing_asked(benchmark.parameters)) {}

void add_options(CLI::App& command, MeasuringOptions& o) {
  if (std::exchange(o.added, true)) return;
  const auto& fields = o.of.parameters.fields;
  add_fields(command,
             {{.fields = &fields, .object = o.asked.parameters.get(), .axes = &o.asked.axes},
              {.fields = &run_fields(), .object = &o.run},
              {.fields = &memory_fields(), .object = &o.memory},
              {.fields = &transport_fields(), .object = &o.transports}});
  add_sides(command, o);
  if (o.of.ablation) {
    command
        .add_flag("--ablate", o.ablate,
                  "measure every transport set that exists here, with each --comm")
        ->group("place");
  }
  if (!o.of.quick.empty()) {
    command.add_flag("--quick", o.quick, "a first look of some seconds: few sizes, one launch")
        ->group("sample");
  }
  o.run.outputs.add_options(command);
  if (o.of.parameters.find("no-transfer-log") != nullptr) {
    o.run.outputs.add_transfer_options(command);
  }
}

std::vector<MeasuringCommand> add_measuring_commands(CLI::App& app) {
  std::vector<MeasuringCommand> commands;
  for (const auto& benchmark : benchmarks()) {
    auto* command = app.add_subcommand(benchmark.name, benchmark.summary);
    const auto options = std::make_shared<MeasuringOptions>(benchmark);
    command->preparse_callback(
        [command, options](std::size_t) { add_options(*command, *options); });
    add_examples(*command, benchmark.examples);
    commands.push_back({command, options});
  }
  return commands;
}

void fill_in(CLI::App& command, const MeasuringOptions& o) {
  if (o.quick) fill_unset(command, o.of.quick);
  if (o.number_of_hosts() > 1 && o.asks_for_ranks()) {
    fill_unset(command,
               {{"ranks", std::to_string(o.number_of_hosts() * o.ranks_per_host.value_or(1))}});
  }
  if (o.of.presets.empty()) return;
  const auto asked = to_json(o.of.parameters.fields, o.asked.parameters.get());
  if (asked.at("like").is_null()) return;
  const auto name = asked.at("like").get<std::string>();
  const auto preset = std::ranges::find(o.of.presets, name, &Preset::name);
  if (preset == o.of.presets.end()) {
    throw Failure(Exit::usage,
                  "--like: " + unknown_name("published benchmark", name, names_in(o.of.presets)));
  }
  const auto scale = asked.at("scale").is_null() ? 1 : asked.at("scale").get<double>();
  auto values = preset->others;
  for (const auto& [option, value, power] : preset->amounts) {
    values[option] = fmt::format("{}", std::max(std::llround(value * std::pow(scale, power)), 1LL));
  }
  fill_unset(command, values);
}

Json options_of(const Benchmark& benchmark) {
  CLI::App command;
  MeasuringOptions o(benchmark);
  add_options(command, o);
  auto fields = described(benchmark.parameters.fields, benchmark.parameters.usual.get());
  for (const auto& more : {described(run_fields(), &o.run), described(memory_fields(), &o.memory),
                           described(transport_fields(), &o.transports),
                           described(sides_fields(), static_cast<const Sides*>(&o))}) {
    fields.insert(fields.end(), more.begin(), more.end());
  }
  auto all = Json::array();
  for (const auto* option : command.get_options()) {
    const auto& name = option->get_lnames().front();
    if (name == "help") continue;
    const auto field =
        std::ranges::find_if(fields, [&](const Json& known) { return known.at("name") == name; });
    const bool is_flag = option->get_items_expected_max() == 0;
    // Where results go, and other machines, are no fields.
    all.push_back(field != fields.end() ? *field
                                        : Json{{"name", name},
                                               {"type", is_flag ? "flag" : "text"},
                                               {"help", option->get_description()},
                                               {"group", option->get_group()},
                                               {"key", "never"}});
    all.back()["environment"] = twin_of(name);
    // What each case has by an option of all benchmarks, as its memory.
    const auto* place = benchmark.parameters.find(name);
    if (place == nullptr || place->asked) continue;
    all.back()["key"] = key_word(place->key);
    all.back()["parameter"] = place->recorded_name();
  }
  return all;
}

}  // namespace ucxbench
