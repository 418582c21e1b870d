#include "harness/comm/choices.hpp"

#include "harness/core/units.hpp"

namespace ucxbench {

Api parse_api(std::string_view name) { return parse_name(api_names, name, "", "API"); }

std::string device_name(CommKind kind) {
  switch (kind) {
    case CommKind::sockets:
      return "the sockets device";
    case CommKind::mpi:
      return "MPI";
    case CommKind::ucx:
      break;
  }
  return "UCX";
}

ProgressMode ProgressMode::parse(std::string_view text) {
  constexpr std::string_view periodic = "periodic:";
  if (text.starts_with(periodic)) {
    return {Kind::periodic, parse_duration(text.substr(periodic.size()))};
  }
  return {parse_name(progress_mode_names, text, "", "progress mode"), {}};
}

std::string ProgressMode::name() const {
  return kind == Kind::periodic ? "periodic:" + format_duration(period)
                                : std::string(name_of(progress_mode_names, kind));
}

ProgressMode ProgressMode::in(int ranks, int cpus) const {
  if (kind != Kind::by_cpus) return *this;
  return {crowded(ranks, cpus) ? Kind::event : Kind::poll, {}};
}

ProgressMode usual_progress(CommKind kind, ProgressMode asked, int ranks, int cpus) {
  return asked.in(ranks, kind == CommKind::mpi ? ranks : cpus);
}

}  // namespace ucxbench
