#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ucxbench {

/// The names that `--transports` accepts, each with one line on what it enables.
struct TransportName {
  std::string_view name, ucx_tls, description;
};
const std::vector<TransportName>& transport_names();

/// One value in UCX_TLS, and why it is there if no member of the set asks for it.
struct TlsValue {
  std::string name, why{};
};
/// UCX_TLS for a set of these members. `gpu_memory`: messages come from or go to GPU or managed
/// memory. `one_host`: all ranks are on one.
std::vector<TlsValue> ucx_tls(const std::vector<std::string>& members, bool gpu_memory,
                              bool one_host);

}  // namespace ucxbench
