#include "bench/cli/options/published.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/cli/options/options.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

struct Published {
  std::string_view command, name;
  /// Options that grow with the data, and those that do not.
  std::vector<std::pair<std::string_view, double>> amounts;
  std::map<std::string, std::string> others;
};

// dask-cuda: the defaults of dask_cuda/benchmarks/{local_cudf_merge,local_cupy}.py. dgx-post: the
// articles of RAPIDS and Dask on UCX and a DGX-1; they give no number of rows, 25.6 GB on 8 GPUs
// fit their figures. mpi4dask: the paper "Efficient MPI-based Communication for GPU-Accelerated
// Dask Applications".
const std::array<Published, 6>& all() {
  static const std::array<Published, 6> known = {{
      {"merge",
       "dask-cuda",
       {{"rows", 1e6}},
       {{"frac-match", "0.3"}, {"generator", "dask"}, {"runs", "3"}, {"ignore-size", "1MiB"}}},
      {"merge", "dgx-post", {{"rows", 1e8}}, {{"frac-match", "0.3"}, {"generator", "dask"}}},
      {"merge", "mpi4dask", {{"rows", 1e8}}, {{"frac-match", "0.3"}, {"generator", "dask"}}},
      {"transpose",
       "dask-cuda",
       {{"size", 10'000}, {"chunk-size", 2'500}},
       {{"result", "sum"}, {"runs", "3"}, {"ignore-size", "1MiB"}}},
      {"transpose",
       "dgx-post",
       {{"size", 40'000}, {"chunk-size", 4'096}},
       {{"result", "sum"}, {"ignore-size", "1MB"}}},
      {"transpose", "mpi4dask", {{"size", 16'384}, {"chunk-size", 4'096}}, {{"result", "keep"}}},
  }};
  return known;
}

// An array's data grow with the square of its size.
double factor_of(const std::string& command, double scale) {
  return command == "transpose" ? std::sqrt(scale) : scale;
}

}  // namespace

void fill_as_published(CLI::App& command, const std::string& name, double scale) {
  if (name.empty()) {
    if (command.get_option("--scale")->count() == 0) return;
    throw Failure(Exit::usage,
                  "--scale: scales the load of --like NAME; without it, give the load itself");
  }
  std::vector<std::string> names;
  for (const auto& published : all()) {
    if (published.command != command.get_name()) continue;
    names.emplace_back(published.name);
    if (published.name != name) continue;
    auto values = published.others;
    for (const auto& [option, amount] : published.amounts) {
      const auto scaled = std::llround(amount * factor_of(command.get_name(), scale));
      values[std::string(option)] = fmt::format("{}", std::max(scaled, 1LL));
    }
    fill_unset(command, values);
    return;
  }
  throw Failure(Exit::usage, "--like: " + unknown_name("published benchmark", name, names));
}

}  // namespace ucxbench
