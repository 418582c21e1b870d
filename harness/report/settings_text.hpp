#pragma once

#include <map>
#include <string>
#include <vector>

namespace ucxbench {

// Settings of UCX as other programs read them. Names and values may come from files that others
// wrote. So they are quoted for a shell and in YAML, and comments are kept on one line.

using UcxSettings = std::map<std::string, std::string>;  ///< "UCX_RNDV_THRESH" → "64k"

/// "export UCX_RNDV_THRESH='64k'", one line for each.
std::string export_lines(const UcxSettings& settings);

/// "    rndv-thresh: \"64k\"": below `environment` of distributed-ucxx, whose options tcp, nvlink
/// and infiniband go before a UCX_TLS there.
std::string dask_lines(const UcxSettings& settings);

enum class SettingsFormat { env, dask, ucx_conf };

/// From the extension: .env (or the name -) for a shell, .yaml for Dask, .conf for ucx.conf. Throws
/// Failure(Exit::usage).
SettingsFormat settings_format_of(const std::string& file);

/// A file that has the comments, then the settings.
std::string settings_file(SettingsFormat format, const UcxSettings& settings,
                          const std::vector<std::string>& comments);

}  // namespace ucxbench
