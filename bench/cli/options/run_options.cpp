#include "bench/cli/options/run_options.hpp"

#include <fmt/format.h>

#include "bench/cli/options/field_options.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

namespace {

Fields<RunOptions> fields_of_runs() {
  return {
      number_field(&RunOptions::launches, {.name = "launches",
                                           .help = "fresh sets of processes per case",
                                           .group = "ranks",
                                           .least = 1,
                                           .most = most_launches}),
      time_field(&RunOptions::timeout,
                 {.name = "timeout", .help = "longest wait without progress", .group = "ranks"}),
      text_field(&RunOptions::wrap,
                 {.name = "wrap",
                  .help = "start each rank under this command; {rank} is replaced",
                  .group = "ranks",
                  .type_name = "COMMAND"}),
      text_field(&RunOptions::bind,
                 {.name = "bind",
                  .help = "CPUs of the ranks: auto | none | one CPU per rank, 0,1",
                  .group = "place",
                  .type_name = "LIST"}),
      flag_field(&RunOptions::no_memory_copy,
                 {.name = "no-memory-copy",
                  .help = "do not time memcpy before launches: no calibrated limits then",
                  .group = "sample"}),
      texts_field(&RunOptions::tags, {.name = "tag",
                                      .help = "a note for the result; repeatable",
                                      .group = "output",
                                      .type_name = "KEY=VALUE"}),
  };
}

}  // namespace

const std::vector<Field>& run_fields() {
  static const auto all = options_alone(fields_of_runs().all);
  return all;
}

void RunOptions::add_outputs(CLI::App& command) {
  static const std::vector<Field> tag = {run_fields().back()};
  add_fields(command, {{.fields = &tag, .object = this}});
  outputs.add_options(command);
}

Variables key_values(const std::string& option, const std::vector<std::string>& given,
                     std::string_view prefix) {
  Variables values;
  for (const auto& entry : given) {
    const auto equals = entry.find('=');
    if (equals == std::string::npos || equals == 0 || !entry.starts_with(prefix)) {
      throw Failure(Exit::usage,
                    fmt::format("{} '{}': expected {}KEY=VALUE", option, entry, prefix));
    }
    values[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
  return values;
}

}  // namespace ucxbench
