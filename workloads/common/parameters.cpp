#include "workloads/common/parameters.hpp"

#include <utility>

#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

constexpr Names<Scaling, 3> scalings = {
    {{Scaling::unsaid, ""}, {Scaling::weak, "weak"}, {Scaling::strong, "strong"}}};
constexpr Names<Injected, 4> mistakes = {{{Injected::nothing, ""},
                                          {Injected::corrupt, "corrupt"},
                                          {Injected::drop, "drop"},
                                          {Injected::misroute, "misroute"}}};

Fields<WorkloadParameters> scaling() {
  return choice_field(&WorkloadParameters::scaling, scalings, "scaling",
                      {.name = "scaling",
                       .help = "how the load grows with the ranks: {}",
                       .group = "load",
                       .type_name = "WAY",
                       .null_if_empty = true});
}

Fields<WorkloadParameters> published_load(const std::vector<Preset>& presets) {
  if (presets.empty()) return {};
  return {
      text_field(
          &WorkloadParameters::like,
          with_choices(presets, {.name = "like",
                                 .help = "the load of a published benchmark, where no option "
                                         "says otherwise: {}",
                                 .group = "load",
                                 .type_name = "NAME",
                                 .null_if_empty = true})),
      real_field(&WorkloadParameters::scale,
                 {.name = "scale",
                  .help = "with --like: that much of its data (default: 1)",
                  .group = "load",
                  .least = 1e-9,
                  .most = 1e9}),
  };
}

Fields<WorkloadParameters> injection() {
  return choice_field(&WorkloadParameters::injected, mistakes, "mistake",
                      {.name = "inject",
                       .help = "make a mistake: {}",
                       .group = "load",
                       .type_name = "MISTAKE",
                       .key = Key::if_unusual});
}

Fields<WorkloadParameters> samples() {
  return {
      warmup_runs_field(&WorkloadParameters::warmup_runs),
      runs_field(&WorkloadParameters::runs),
      off_switch_field(
          number_field(&WorkloadParameters::calibrations,
                       {.name = "no-calibrate",
                        .parameter = "calibrations",
                        .help = "do not measure what the exchange reaches when nothing is computed",
                        .group = "sample",
                        .given = 0})),
      flag_field(&WorkloadParameters::transfer_log, {.name = "no-transfer-log",
                                                     .parameter = "transfer_log",
                                                     .help = "do not record every message",
                                                     .group = "sample",
                                                     .given = false}),
      size_field(&WorkloadParameters::ignore_bytes,
                 {.name = "ignore-size",
                  .parameter = "ignore_bytes",
                  .help = "quantiles of pairs are over messages of at least this size",
                  .group = "sample"}),
  };
}

Fields<WorkloadParameters> fields_with(Fields<Place> ranks, Fields<WorkloadParameters> load) {
  return {constant_field<WorkloadParameters>("api", "tag"),
          place_fields(),
          std::move(ranks),
          comm_field(),
          connect_by_field(),
          progress_mode_field(),
          devices_field(),
          pool_size_field(),
          no_pool_field(),
          std::move(load),
          samples()};
}

}  // namespace

Fields<WorkloadParameters> workload_fields(const std::vector<Preset>& presets) {
  return fields_with(ranks_list_field(Key::always),
                     {scaling(), published_load(presets), injection()});
}

Fields<WorkloadParameters> recorded_workload_fields() {
  auto ranks = ranks_field("as many as there were", Key::always);
  ranks.all.front().asked = false;
  return fields_with(ranks, injection());
}

void settle_workload(WorkloadParameters& p) {
  if (!p.like.empty() && !p.scale) p.scale = 1;
}

void check_workload(const WorkloadParameters& p) {
  if (p.scale && p.like.empty()) {
    throw Failure(Exit::usage,
                  "--scale: scales the load of --like NAME; without it, give the load itself");
  }
  if (p.memory.front() != p.memory.back()) {
    throw Failure(Exit::usage, "--memory: a workload's data are in one kind of memory");
  }
  if (p.injected != Injected::nothing && p.ranks < 2) {
    throw Failure(Exit::usage, "--inject: a mistake on the way needs at least two ranks");
  }
}

}  // namespace ucxbench
