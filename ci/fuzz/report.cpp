// Every format in which a run and a comparison are printed.

#include "harness/report/report.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include "ci/fuzz/refusal.hpp"
#include "harness/analysis/annotate.hpp"
#include "harness/analysis/comparison/comparison.hpp"
#include "harness/report/comparison_view.hpp"
#include "harness/result/file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ucxbench;
  static const auto other = read_result("ci/fuzz/seeds/run/synthetic.json");
  Result run;
  bool read = false;
  read_or_refuse([&] {
    run = parse_result({reinterpret_cast<const char*>(data), size}, "input");
    judge_anew(run);
    read = true;
  });
  if (!read) return 0;
  for (const auto& [name, format] : formats()) read_or_refuse([&] { render(name, run); });
  read_or_refuse([&] { render("table", run, {.color = true, .brief = true, .findings = true}); });
  read_or_refuse([&] {
    const auto comparison = compare(other, run);
    comparison_table(comparison, true);
    comparison_markdown(comparison);
    comparison_junit(comparison, run);
    comparison_json(comparison).dump();
  });
  return 0;
}
