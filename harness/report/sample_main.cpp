#include <iostream>
#include <string>

#include "harness/core/failure.hpp"
#include "harness/report/dashboard.hpp"
#include "harness/report/report.hpp"
#include "harness/report/sample.hpp"

// Prints an invented run in a format: `report_sample result|pairs|workload FORMAT [color]`. What
// the tests in other languages read is then what the C++ code writes. As ucx-bench does,
// `report_sample report FILE …` prints the run file again as it is written today, and
// `report_sample dashboard FOLDER PAGE [BASE]` what scripts/dashboard.py draws.
int main(int argc, char** argv) {
  const std::string which = argc > 1 ? argv[1] : "result";
  const std::string format = argc > 2 ? argv[2] : "table";
  if (argc > 2 && (which == "report" || which == "dashboard")) {
    try {
      if (which == "report") {
        std::cout << ucxbench::render("json", ucxbench::read_result(argv[2]), {});
      } else {
        ucxbench::Dashboard dashboard(argv[2], argc > 4 ? argv[4] : "");
        std::cout << ucxbench::json_text(dashboard.document(argc > 3 ? argv[3] : "page.html"));
      }
      return 0;
    } catch (const ucxbench::Failure& failure) {
      std::cerr << failure.what() << "\n";
      return static_cast<int>(failure.exit());
    }
  }
  const auto result = which == "pairs"      ? ucxbench::sample_of_pairs()
                      : which == "workload" ? ucxbench::sample_of_workload()
                                            : ucxbench::sample_result();
  std::cout << ucxbench::render(format, result, {.color = argc > 3});
}
