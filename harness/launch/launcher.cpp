#include "harness/launch/launcher.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "harness/launch/pmix.hpp"

namespace ucxbench {
namespace {

std::optional<int> number_in(const char* name) {
  const char* text = std::getenv(name);
  const std::string_view view = text == nullptr ? "" : text;
  int value = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
  if (view.empty() || error != std::errc() || end != view.data() + view.size()) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

std::string address_in_uri(const std::string& uri) {
  constexpr std::string_view scheme = "tcp://";
  const auto begin = uri.find(scheme);
  if (begin == std::string::npos) return "";
  const auto address = uri.substr(begin + scheme.size());
  const auto end = address.find_first_of(",:;");
  const bool dotted = address.find_first_not_of("0123456789.") == end;
  return end != std::string::npos && dotted ? address.substr(0, end) : "";
}

std::unique_ptr<Launcher> find_launcher() {
  // In a shell of an allocation (salloc, sbatch) Slurm sets most of its variables as well.
  const auto count = std::max(number_in("OMPI_COMM_WORLD_SIZE").value_or(0),
                              number_in("SLURM_STEP_NUM_TASKS").value_or(0));
  const bool pmix = std::getenv("PMIX_RANK") != nullptr && std::getenv("PMIX_NAMESPACE") != nullptr;
  if (!pmix || count == 1) return nullptr;
  auto found = meet_by_pmix();
  return found->count() > 1 ? std::move(found) : nullptr;
}

}  // namespace ucxbench
