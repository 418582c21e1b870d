#include "harness/report/report.hpp"

namespace ucxbench {
namespace {

std::string render_json(const Result& result, const RenderOptions&) { return run_text(result); }

const RegisterFormat json_format{{.name = "json",
                                  .description = "the run file: everything, as the schema says",
                                  .render = render_json}};

}  // namespace
}  // namespace ucxbench
