#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "harness/core/json.hpp"
#include "harness/launch/environment.hpp"
#include "harness/transports/resources.hpp"

namespace ucxbench {

/// Whether something works, as far as can be known without trying, and why.
struct Ability {
  enum class State { active, absent, unknown };
  State state = State::unknown;
  std::string why;  ///< one line
};
std::string_view to_string(Ability::State state);

/// GPUDirect RDMA: RDMA devices reach GPU memory themselves; otherwise it is staged through the
/// host. `settings` are a rank's UCX_* variables, `root` is "/" but in tests.
Ability gpu_direct_rdma(const UcxResources& resources, const Variables& settings,
                        const std::filesystem::path& root = "/");

/// GDRCopy: the CPU reaches GPU memory through a mapping, which speeds small messages up.
Ability gdr_copy(const UcxResources& resources, const Variables& settings,
                 const std::filesystem::path& root = "/");

/// For the result: {"rdma": {"state", "why"}, "gdr_copy": {…}}.
Json describe_gpu_direct(const UcxResources& resources, const Variables& settings);

}  // namespace ucxbench
