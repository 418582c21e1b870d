#include "harness/run/description.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/failure.hpp"
#include "harness/core/units.hpp"
#include "harness/memory/buffer.hpp"

namespace ucxbench {
namespace {

class Cases {
 public:
  Cases(const std::string& benchmark, const Description& description, const Asked& asked,
        const Local& local)
      : benchmark_(benchmark), description_(description), asked_(asked), local_(local) {}

  std::vector<AskedCase> at(const Place& place) {
    const auto whole = description_.copy(asked_.parameters.get());
    auto& own = description_.place(whole.get());
    own.memory = place.memory;
    own.transports = place.transports;
    own.comm = place.comm;
    own.net_devices = place.net_devices;
    own.ranks = place.ranks;
    own.launches = place.launches;
    const auto* modes = description_.find("progress-mode");
    if (modes != nullptr && modes->axis == Axis::launches) own.progress = place.progress;
    gpu_ = uses_gpu(own);
    add(whole.get(), 0);
    // An axis without a value, as peers of one rank.
    if (cases_.empty()) description_.check(whole.get(), local_);
    return std::move(cases_);
  }

 private:
  std::vector<Json> values(const Field& axis, const void* parameters) const {
    if (axis.values) return axis.values(parameters);
    const auto asked = asked_.axes.find(axis.name);
    const bool is_asked = asked != asked_.axes.end();
    const auto& usual = gpu_ && !axis.usual_on_gpu.empty() ? axis.usual_on_gpu : axis.usual;
    auto values = is_asked        ? asked->second
                  : usual.empty() ? std::vector{axis.get(parameters)}
                                  : values_of(axis, usual);
    return axis.left ? axis.left(parameters, std::move(values), is_asked) : values;
  }

  void add(void* parameters, std::size_t field) {
    const auto& fields = description_.fields;
    while (field < fields.size() && fields[field].axis != Axis::cases) ++field;
    if (field == fields.size()) return add_case(parameters);
    for (const auto& value : values(fields[field], parameters)) {
      set_value(fields[field], parameters, value);
      add(parameters, field + 1);
    }
  }

  void add_case(const void* whole) {
    const auto own = description_.copy(whole);
    auto& place = description_.place(own.get());
    place.progress = usual_progress(place.comm, place.progress, local_.ranks, local_.cpus);
    description_.settle(own.get());
    description_.check(own.get(), local_);
    cases_.push_back({key_of(benchmark_, description_.fields, own.get(), description_.usual.get()),
                      to_json(description_.fields, own.get()), description_.busy_threads(own.get()),
                      description_.place(own.get()).connect_by});
  }

  const std::string& benchmark_;
  const Description& description_;
  const Asked& asked_;
  const Local& local_;
  bool gpu_ = false;
  std::vector<AskedCase> cases_;
};

}  // namespace

Local local(int ranks, int cpus) {
  return {.ranks = ranks, .cpus = cpus, .memory_bytes = available_memory_bytes() / 10 * 9};
}

const Field* Description::find(const std::string& name) const {
  const auto found = std::ranges::find(fields, name, &Field::name);
  return found == fields.end() ? nullptr : &*found;
}

Asked nothing_asked(const Description& description) {
  Asked asked{.parameters = description.copy(description.usual.get()), .axes = {}};
  for (const auto& field : description.fields) {
    if (field.usual.empty() || field.axis != Axis::none) continue;
    set_value(field, asked.parameters.get(), value_of(field, field.usual));
  }
  return asked;
}

std::vector<AskedCase> cases_at(const std::string& benchmark, const Description& description,
                                const Asked& asked, const Place& place, const Local& local) {
  return Cases(benchmark, description, asked, local).at(place);
}

void check_message_size(const std::string& option, const Place& place, std::uint64_t bytes,
                        int buffers, const Local& local) {
  if (on_gpu(place.sent_from()) && on_gpu(place.received_into())) return;
  const auto fits = local.memory_bytes / static_cast<std::uint64_t>(buffers) /
                    static_cast<std::uint64_t>(local.ranks);
  if (bytes <= fits) return;
  throw Failure(Exit::usage,
                fmt::format("{}: {} {} times in each of {} ranks is more than the available "
                            "memory; at most {} fit",
                            option, spaced_size(bytes), buffers, local.ranks, rough_size(fits)));
}

}  // namespace ucxbench
