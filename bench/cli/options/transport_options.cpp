#include "bench/cli/options/transport_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/of_option.hpp"

namespace ucxbench {
namespace {

constexpr Names<std::optional<bool>, 3> gdr_settings = {
    {{std::nullopt, "auto"}, {true, "on"}, {false, "off"}}};

// dask-cuda's spelling of one set (dask_cuda/benchmarks/utils.py): its InfiniBand and NVLink come
// with TCP, for connections and small messages.
std::string dask_set(const TransportOptions& o) {
  if (!o.enable_tcp && !o.enable_nvlink && !o.enable_infiniband) return "";
  return std::string("tcp") + (o.enable_nvlink ? ",nvlink" : "") +
         (o.enable_infiniband ? ",ib" : "");
}

Fields<TransportOptions> dask_fields() {
  const auto dask = [](bool TransportOptions::* member, const char* name, const char* help) {
    return flag_field(member,
                      {.name = name, .help = help, .group = "place, as dask-cuda spells it"});
  };
  return {dask(&TransportOptions::enable_tcp, "enable-tcp-over-ucx", "--transports tcp"),
          dask(&TransportOptions::enable_nvlink, "enable-nvlink", "--transports tcp,nvlink"),
          dask(&TransportOptions::enable_infiniband, "enable-infiniband", "--transports tcp,ib")};
}

Fields<TransportOptions> fields_of_transports() {
  return {
      choice_field(&TransportOptions::gdr, gdr_settings, "setting",
                   {.name = "gdr",
                    .help = "GPUDirect RDMA and GDRCopy: {}",
                    .group = "place",
                    .type_name = "WHEN"}),
      text_field(&TransportOptions::net_devices,
                 {.name = "net-devices",
                  .aliases = "--ucx-net-devices",
                  .help = "auto | nearest | all | names, as lo or eth0,eth1",
                  .group = "place",
                  .type_name = "LIST"}),
      texts_field(&TransportOptions::transports,
                  with_choices(transports(),
                               {.name = "transports",
                                .help = "one set: {}; commas or + join all but auto; repeat the "
                                        "option for several (default: tcp, then shm)",
                                .group = "place",
                                .type_name = "SET"})),
      dask_fields(),
      text_field(&TransportOptions::require,
                 {.name = "require",
                  .help = "exit 1 unless this set carried at least 99 % of the bytes",
                  .group = "place",
                  .type_name = "SET"}),
      flag_field(&TransportOptions::allow_same_gpu,
                 {.name = "allow-same-gpu",
                  .help = "with --require nvlink: accept a copy inside one GPU",
                  .group = "place"}),
      flag_field(&TransportOptions::strict,
                 {.name = "strict", .help = "exit 3 if any set cannot run", .group = "place"}),
      number_field(&TransportOptions::estimated_eps,
                   {.name = "estimated-eps",
                    .help = "number of endpoints of a rank that UCX is told, by which it chooses "
                            "transports; 0: the real number",
                    .group = "place",
                    .least = 0,
                    .most = 1'000'000}),
      texts_field(&TransportOptions::ucx,
                  {.name = "ucx",
                   .help = "a UCX setting that overrides all others; repeatable",
                   .group = "place",
                   .type_name = "KEY=VALUE"}),
  };
}

}  // namespace

const std::vector<Field>& transport_fields() {
  static const auto all = options_alone(fields_of_transports().all);
  return all;
}

bool TransportOptions::any_set() const { return !transports.empty() || !dask_set(*this).empty(); }

std::vector<TransportSet> TransportOptions::sets(int ranks,
                                                 const std::vector<std::string>& usual) const {
  const auto dask = dask_set(*this);
  if (!dask.empty() && !transports.empty()) {
    throw Failure(Exit::usage, "--enable-… and --transports: both name a set; use one of them");
  }
  auto texts = dask.empty() ? transports : std::vector<std::string>{dask};
  if (texts.empty()) texts = ranks == 1 ? std::vector<std::string>{"self"} : usual;
  std::vector<TransportSet> sets;
  for (const auto& each : texts) {
    auto set = TransportSet::parse(each);
    const bool self_only = set.names(Fabric::process) && set.members().size() == 1;
    if (ranks == 1 && !self_only) {
      throw Failure(Exit::usage, fmt::format("--ranks 1 with --transports {}: one rank plays with "
                                             "itself over self only; use -n 2 or --transports self",
                                             each));
    }
    if (ranks > 1 && set.names(Fabric::process)) {
      throw Failure(Exit::usage, fmt::format("--transports {}: self is one rank with itself; use "
                                             "-n 1, or leave self out",
                                             each));
    }
    const auto same = [&](const TransportSet& known) { return known.name() == set.name(); };
    if (std::none_of(sets.begin(), sets.end(), same)) sets.push_back(std::move(set));
  }
  return sets;
}

std::optional<TransportSet> TransportOptions::required(
    const std::vector<TransportSet>& sets) const {
  if (require.empty()) return std::nullopt;
  auto required = of_option("--require", [&] { return TransportSet::parse(require); });
  if (const auto why = why_never_missed(required); !why.empty()) {
    throw Failure(Exit::usage, "--require: " + why);
  }
  for (const auto& set : sets) {
    for (const auto& member : required.members()) {
      const bool named = std::ranges::find(set.members(), member) != set.members().end();
      if (named || set.names(Fabric::any)) continue;
      throw Failure(Exit::usage, fmt::format("--require {}: --transports {} does not ask for {}; "
                                             "require a transport that every --transports names",
                                             require, set.name(), member));
    }
  }
  return required;
}

}  // namespace ucxbench
