#include "harness/report/report.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/core/failure.hpp"
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
  return found->second.render(result, options);
}

RegisterFormat::RegisterFormat(Format format) {
  const auto name = format.name;
  if (!registry().emplace(name, std::move(format)).second) {
    throw std::logic_error("two report formats are called '" + name + "'");
  }
}

}  // namespace ucxbench
