#include "harness/report/settings_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "harness/core/failure.hpp"
#include "harness/core/json.hpp"
#include "harness/core/text.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

/// "UCX_RNDV_THRESH" → "rndv-thresh".
std::string dask_name(const std::string& ucx_name) {
  auto name = lower_case(ucx_name.substr(std::string_view("UCX_").size()));
  std::ranges::replace(name, '_', '-');
  return name;
}

}  // namespace

std::string export_lines(const UcxSettings& settings) {
  std::string lines;
  for (const auto& [name, value] : settings) {
    lines += fmt::format("export {}={}\n", name, for_shell(value));
  }
  return lines;
}

std::string dask_lines(const UcxSettings& settings) {
  std::string lines;
  for (const auto& [name, value] : settings) {
    lines += fmt::format("    {}: {}\n", dask_name(name), for_yaml(value));
  }
  return lines;
}

SettingsFormat settings_format_of(const std::string& file) {
  if (file == "-" || file.ends_with(".env")) return SettingsFormat::env;
  if (file.ends_with(".yaml")) return SettingsFormat::dask;
  if (file.ends_with(".conf")) return SettingsFormat::ucx_conf;
  throw Failure(Exit::usage,
                fmt::format("--output '{}': expected a name that ends with .env (for a "
                            "shell), .yaml (for Dask) or .conf (UCX's ucx.conf)",
                            file));
}

std::string settings_file(SettingsFormat format, const UcxSettings& settings,
                          const std::vector<std::string>& comments) {
  std::string text;
  for (const auto& comment : comments) text += "# " + on_one_line(comment) + "\n";
  switch (format) {
    case SettingsFormat::dask:
      return text + "distributed-ucxx:\n  environment:\n" + dask_lines(settings);
    case SettingsFormat::ucx_conf:
      for (const auto& [name, value] : settings)
        text += fmt::format("{}={}\n", name, on_one_line(value));
      return text;
    case SettingsFormat::env:
      break;
  }
  return text + export_lines(settings);
}

}  // namespace ucxbench
