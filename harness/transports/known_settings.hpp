#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/core/json.hpp"
#include "harness/launch/environment.hpp"

namespace ucxbench {

/// Every variable that the loaded UCX and its loaded modules know, with the value that it has in
/// this process's environment. A name that several transports take over (UCX_SEG_SIZE) has no value
/// of its own: it is empty, and so is one whose value here UCX cannot read. No variables at all
/// where this UCX does not list them. Changes this process's environment for a moment.
Variables known_ucx_settings();

/// A value of a variable that UCX cannot read, and why: "UCX 1.13.1 cannot read this value: Invalid
/// value for RNDV_THRESH: 'soon'. Expected: …".
struct UnreadableSetting {
  std::string name, value, why;
};
void to_json(Json& json, const UnreadableSetting& setting);
void from_json(const Json& json, UnreadableSetting& setting);

/// Of these values of variables those that the loaded UCX, of this version, cannot read. It would
/// not start with them. Changes this process's environment for a moment.
std::vector<UnreadableSetting> unreadable_settings(
    const std::vector<std::pair<std::string, std::string>>& values, const std::string& version);

/// Why `name` (UCX_…) would change nothing: "UCX 1.13.1 has no such variable: did you mean
/// 'UCX_TLS'?". Empty where UCX of this version knows it, or `known` is empty.
std::string why_unknown_setting(const std::string& name, const Variables& known,
                                const std::string& version);

}  // namespace ucxbench
