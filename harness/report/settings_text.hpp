#pragma once

#include <map>
#include <string>
#include <vector>

namespace ucxbench {

// Settings of UCX as other programs read them. Names and values may come from files that others
// made: in a shell and in YAML they are quoted, in comments on one line.

std::string shell_quoted(const std::string& text);
std::string yaml_quoted(const std::string& text);

using UcxSettings = std::map<std::string, std::string>;  ///< "UCX_RNDV_THRESH" → "64k"

/// "export UCX_RNDV_THRESH='64k'", each on a line.
std::string export_lines(const UcxSettings& settings);

/// "    rndv-thresh: \"64k\"": below `environment` of distributed-ucxx. Without UCX_TLS, which Dask
/// makes of tcp, nvlink and infiniband.
std::string dask_lines(const UcxSettings& settings);

enum class SettingsFormat { env, dask, ucx_conf };

/// By the end of its name: .env or - for a shell, .yaml for Dask, .conf for ucx.conf. Throws
/// Failure(Exit::usage).
SettingsFormat settings_format_of(const std::string& file);

/// A file with nothing but the settings, below comments.
std::string settings_file(SettingsFormat format, const UcxSettings& settings,
                          const std::vector<std::string>& comments);

}  // namespace ucxbench
