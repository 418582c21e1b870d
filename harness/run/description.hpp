#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

#include "harness/core/field.hpp"
#include "harness/run/place.hpp"

namespace ucxbench {

/// What this machine has for a case.
struct Local {
  int ranks = 2;  ///< of the case's, those that run here
  int cpus = 1;   ///< processors for them
  std::uint64_t memory_bytes =
      0;  ///< of the host, for all of them; UCX and the system keep a tenth
};
Local local(int ranks, int cpus);

/// What holds for the parameters of one benchmark beside their single values; all may be null.
template <typename P>
struct Rules {
  /// Computes parameters that follow from others, among them the number of ranks: once, for each
  /// case.
  void (*settle)(P& parameters) = nullptr;
  /// Throws Failure(Exit::usage) for a case that cannot be meant, after `settle`.
  void (*check)(const P& parameters, const Local& local) = nullptr;
  /// Threads of a rank that are busy; null: 1.
  int (*busy_threads)(const P& parameters) = nullptr;
  /// How many ranks there are, where there is no --ranks. Throws as `check`.
  int (*ranks)(const P& parameters) = nullptr;
};

/// The parameters of a benchmark: a struct derived from Place, and its fields.
struct Description {
  std::vector<Field> fields;
  std::shared_ptr<const void> usual;  ///< a struct as it is by default
  std::function<std::shared_ptr<void>(const void*)> copy;
  std::function<Place&(void*)> place;
  std::function<void(void*)> settle;
  std::function<void(const void*, const Local&)> check;
  std::function<int(const void*)> busy_threads;
  std::function<int(const void*)> ranks;  ///< empty: --ranks says it
  const std::type_info* type = nullptr;

  const Field* find(const std::string& name) const;  ///< null: there is none

  /// Throws std::logic_error for a P that is not the benchmark's.
  template <typename P>
  P read(const Json& json) const {
    expect(typeid(P));
    P parameters;
    from_json(fields, json, &parameters);
    return parameters;
  }
  template <typename P>
  Json json(const P& parameters) const {
    expect(typeid(P));
    return to_json(fields, &parameters);
  }

 private:
  void expect(const std::type_info& asked) const {
    if (*type != asked) throw std::logic_error("parameters of another benchmark");
  }
};

template <typename P>
Description describe(const Fields<P>& fields, Rules<P> rules = {}) {
  Description made;
  made.fields = fields.all;
  made.usual = std::make_shared<const P>();
  made.copy = [](const void* from) -> std::shared_ptr<void> {
    return std::make_shared<P>(*static_cast<const P*>(from));
  };
  made.place = [](void* object) -> Place& { return *static_cast<P*>(object); };
  made.settle = [rules](void* object) {
    if (rules.settle != nullptr) rules.settle(*static_cast<P*>(object));
  };
  made.check = [rules](const void* object, const Local& local) {
    if (rules.check != nullptr) rules.check(*static_cast<const P*>(object), local);
  };
  made.busy_threads = [rules](const void* object) {
    return rules.busy_threads == nullptr ? 1 : rules.busy_threads(*static_cast<const P*>(object));
  };
  if (rules.ranks != nullptr) {
    made.ranks = [rules](const void* object) {
      return rules.ranks(*static_cast<const P*>(object));
    };
  }
  made.type = &typeid(P);
  return made;
}

/// Parameters that were asked for: one struct, with the values of axes beside it.
struct Asked {
  std::shared_ptr<void> parameters;
  std::map<std::string, std::vector<Json>> axes;  ///< by option; one that is not here is usual
};
Asked nothing_asked(const Description& description);

/// One case of what was asked.
struct AskedCase {
  std::string key;
  Json parameters;
  int busy_threads = 1;
  ConnectBy connect_by = ConnectBy::address;
};

/// All cases at `place`, whose memory, transports, network devices and ranks they get: the values
/// of the axes in the order of the description, the last changing fastest. Throws
/// Failure(Exit::usage) for what the benchmark refuses.
std::vector<AskedCase> cases_at(const std::string& benchmark, const Description& description,
                                const Asked& asked, const Place& place, const Local& local);

/// --sizes: the message sizes of a benchmark, an axis of its cases. `usual_on_gpu`: where that is
/// another.
template <typename P>
Fields<P> sizes_field(std::uint64_t P::* bytes, const std::string& usual,
                      const std::string& usual_on_gpu = "") {
  return size_field(bytes, {.name = "sizes",
                            .aliases = "-s",
                            .parameter = "bytes",
                            .help = "8,1KiB or 8:64MiB:x2 or 0:1MiB:+64KiB",
                            .group = "load",
                            .most_drawn = std::uint64_t{4} << 20U,
                            .key = Key::bare,
                            .axis = Axis::cases,
                            .usual = usual,
                            .usual_on_gpu = usual_on_gpu});
}

/// --window: messages or operations outstanding.
template <typename P, typename Number>
Fields<P> window_field(Number P::* window, const std::string& help, double most,
                       Key key = Key::if_unusual) {
  return number_field(window, {.name = "window",
                               .aliases = "-W",
                               .help = help,
                               .group = "load",
                               .least = 1,
                               .most = most,
                               .most_drawn = 64,
                               .key = key});
}

/// --iterations; `help` says of what.
template <typename P, typename Number>
Fields<P> iterations_field(Number P::* iterations, const std::string& help,
                           double most = 1'000'000) {
  return number_field(iterations, {.name = "iterations",
                                   .help = help,
                                   .group = "sample",
                                   .least = 1,
                                   .most = most,
                                   .most_drawn = 60});
}

/// --warmup-runs: so many of `what` do not count. `parameter`: in the run file.
template <typename P>
Fields<P> warmup_runs_field(int P::* runs, const std::string& what = "runs of each case and launch",
                            const std::string& parameter = "warmup_runs", double most = 100) {
  return number_field(runs, {.name = "warmup-runs",
                             .aliases = "-w",
                             .parameter = parameter,
                             .help = "uncounted " + what,
                             .group = "sample",
                             .least = 0,
                             .most = most,
                             .most_drawn = 2});
}

/// --runs: so many of `what` count.
template <typename P>
Fields<P> runs_field(int P::* runs, const std::string& what = "runs of each case and launch",
                     const std::string& parameter = "runs") {
  return number_field(runs, {.name = "runs",
                             .aliases = "-r",
                             .parameter = parameter,
                             .help = "measured " + what,
                             .group = "sample",
                             .least = 1,
                             .most = 10'000,
                             .most_drawn = 2});
}

/// Refuses, naming `option`, messages of `bytes` of which `buffers` in each of the local ranks are
/// more than the memory that there is.
void check_message_size(const std::string& option, const Place& place, std::uint64_t bytes,
                        int buffers, const Local& local);

}  // namespace ucxbench
