#include "harness/report/report.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/core/failure.hpp"
#include "harness/core/read_json.hpp"
#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

std::map<std::string, Format>& registry() {
  static std::map<std::string, Format> formats;
  return formats;
}

}  // namespace

const std::map<std::string, Format>& formats() { return registry(); }

std::string render(const std::string& format, const Result& result, const RenderOptions& options) {
  const auto found = formats().find(format);
  if (found == formats().end()) {
    std::vector<std::string> known;
    for (const auto& [name, of] : formats()) known.push_back(name);
    throw Failure(Exit::usage, unknown_name("format", format, known));
  }
  try {
    return found->second.render(result, options);
  } catch (const Json::exception& error) {
    // Views look into parts of a run that its reader takes as they are.
    throw Failure(Exit::usage, fmt::format("'{}' is a damaged ucx-bench run ({}); give it as "
                                           "ucx-bench --json wrote it",
                                           result.file.string(), in_one_line(why_not_json(error))));
  }
}

RegisterFormat::RegisterFormat(Format format) {
  const auto name = format.name;
  if (!registry().emplace(name, std::move(format)).second) {
    throw std::logic_error("two report formats are called '" + name + "'");
  }
}

}  // namespace ucxbench
