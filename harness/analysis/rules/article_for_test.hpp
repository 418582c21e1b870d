#pragma once

// For tests.

#include "harness/analysis/fixtures.hpp"
#include "harness/analysis/imports/import.hpp"
#include "harness/analysis/rules/run_for_test.hpp"

namespace ucxbench {

// The DGX-1 as an article on Dask ran it: GPU i takes adapter ib(i/2), and the CPUs of its socket
// but for the last of each range.
inline Result dgx1_of_the_article() {
  auto result = made_run();
  result.topology = to_json(import_topology(fixture("dgx1.txt")));
  for (int gpu = 0; gpu < 8; ++gpu) {
    add_rank(result, gpu < 4 ? "0-18,40-58" : "20-38,60-78", gpu,
             "ib" + std::to_string(gpu / 2) + ":1");
  }
  auto of = made_case(1 << 20, {"ib"}, "cuda");
  for (int src = 0; src < 8; src += 2) {
    of.launches.push_back(
        made_record(src, src + 1, "ib", {"rc_mlx5/ib" + std::to_string(src / 2) + ":1"}));
  }
  result.cases = {of};
  return result;
}

}  // namespace ucxbench
