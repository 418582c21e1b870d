#include "harness/comm/endpoint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "harness/comm/address.hpp"
#include "harness/core/text.hpp"
#include "harness/transports/lanes.hpp"
#include "harness/transports/printed.hpp"
#include "harness/transports/rdma_ports.hpp"
#include "harness/transports/ucx_error.hpp"
#include "harness/transports/ucx_version.hpp"

namespace ucxbench {
namespace {

// rdmacm listens on addresses of RDMA ports only: of those that are named, else of all.
Address rdmacm_address(const std::vector<std::string>& net_devices) {
  std::vector<std::string> devices;
  for (const auto& ports : {net_devices, active_rdma_ports()}) {
    for (const auto& port : ports) {
      if (auto device = net_device_of(port); !device.empty()) devices.push_back(std::move(device));
    }
    if (!devices.empty()) break;
  }
  if (auto address = first_address(devices)) return *address;
  throw Failure(
      Exit::cannot_run,
      fmt::format("--connect-by sockaddr: rdmacm needs an IP address of an RDMA port, {}",
                  devices.empty() ? std::string("and none here has a network device")
                                  : fmt::format("and {} has none", fmt::join(devices, ", "))));
}

Address listening_address(const UcxWorker& worker, const std::string& net_devices) {
  std::vector<std::string> devices;
  // A rank's own go before those that the case names for all.
  const char* own = std::getenv("UCX_NET_DEVICES");
  const std::string named = own == nullptr ? net_devices : own;
  for (const auto device : split_text(named, ',')) devices.emplace_back(device);
  const auto managers = worker.effective().find("UCX_SOCKADDR_TLS_PRIORITY");
  if (managers != worker.effective().end() && managers->second == "rdmacm") {
    return rdmacm_address(devices);
  }
  return first_address(devices).value_or(loopback());
}

// Memory that two ranks do not share is nothing that broke; a network that is there and does not
// lead to the peer is.
bool over_network(const UcxWorker& worker) {
  const auto found = worker.effective().find("UCX_TLS");
  if (found == worker.effective().end()) return true;
  const auto names = split_text(found->second, ',');
  return std::ranges::any_of(names, [](std::string_view name) {
    return name == "all" || name == "tcp" || name.starts_with('^') || name.starts_with("ib") ||
           name.starts_with("rc") || name.starts_with("ud") || name.starts_with("dc");
  });
}

// Its releases 1.20.0 and 1.20.1 find no route over lo (ucx#11202), even to themselves.
bool is_without_loopback() {
  const auto version = ucx_version();
  return version.major == 1 && version.minor == 20;
}

// Behind a worker's address, for which UCX does not look there.
constexpr std::size_t version_bytes = sizeof(UcxVersion);

Rendezvous::Bytes address_and_version(const UcxWorker& worker) {
  auto bytes = worker.address();
  const auto own = std::bit_cast<std::array<std::uint8_t, version_bytes>>(ucx_version());
  bytes.insert(bytes.end(), own.begin(), own.end());
  return bytes;
}

std::optional<UcxVersion> version_behind(const Rendezvous::Bytes& address) {
  UcxVersion version;
  if (address.size() < version_bytes) return std::nullopt;
  std::memcpy(&version, address.data() + address.size() - version_bytes, version_bytes);
  return version;
}

const char* why_not_over_lo() {
  return is_without_loopback()
             ? "; UCX 1.20 does not connect over lo: name another device with --net-devices, or "
               "use another version"
             : "; they have network namespaces of their own, and lo leads to no other: name the "
               "device that does with --net-devices";
}

// Of ErrorMode::peer. Failures are seen where requests end, so the handler has nothing to do;
// without one UCX would log each.
void set_errors(ucp_ep_params_t& params, ErrorMode errors) {
  if (errors == ErrorMode::none) return;
  params.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler.cb = [](void*, ucp_ep_h, ucs_status_t) {};
}

void check_connection(ucs_status_t status, const UcxWorker& worker, int rank, int peer,
                      ErrorMode errors, const std::optional<UcxVersion>& of_peer = std::nullopt) {
  if (status == UCS_OK) return;
  if (of_peer && *of_peer != ucx_version()) {
    throw Failure(Exit::cannot_run,
                  fmt::format("no connection from rank {} with UCX {} to rank {} with UCX {}: {}",
                              rank, to_string(ucx_version()), peer, to_string(*of_peer),
                              ucs_status_string(status)));
  }
  if (errors == ErrorMode::peer && !over_network(worker)) {
    throw Failure(Exit::cannot_run,
                  fmt::format("--error-mode peer: {}: shared memory has no peer failure handler; "
                              "give --ucx UCX_POSIX_ERROR_HANDLING=y --ucx "
                              "UCX_SYSV_ERROR_HANDLING=y",
                              ucs_status_string(status)));
  }
  const auto devices = worker.effective().find("UCX_NET_DEVICES");
  const bool loopback_only = devices != worker.effective().end() && devices->second == "lo";
  throw Failure(over_network(worker) ? Exit::lost : Exit::cannot_run,
                fmt::format("no connection from rank {} to rank {}: {}{}", rank, peer,
                            ucs_status_string(status),
                            over_network(worker) && loopback_only ? why_not_over_lo() : ""));
}

struct Awaited {
  ucp_listener_h listener = nullptr;
  ucp_conn_request_h request = nullptr;
};

// Of one client. Whoever else comes to the port is sent away: a request that nobody answers leaks.
void on_connection(ucp_conn_request_h request, void* argument) {
  auto& awaited = *static_cast<Awaited*>(argument);
  if (awaited.request == nullptr) {
    awaited.request = request;
  } else {
    ucp_listener_reject(awaited.listener, request);
  }
}

ucp_ep_h accept_one(const UcxWorker& worker, Rendezvous& rendezvous, const std::string& key,
                    const std::string& net_devices, const Rendezvous::Progress& progress,
                    ErrorMode errors) {
  const auto address = listening_address(worker, net_devices);
  Awaited awaited;
  ucp_listener_params_t params{};
  params.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER;
  params.sockaddr = {address.get(), address.length()};
  params.conn_handler = {on_connection, &awaited};
  check(ucp_listener_create(worker.handle(), &params, &awaited.listener), "ucp_listener_create",
        Exit::cannot_run);
  const std::unique_ptr<ucp_listener, decltype(&ucp_listener_destroy)> destroy(
      awaited.listener, &ucp_listener_destroy);
  ucp_listener_attr_t attributes{};
  attributes.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR;
  check(ucp_listener_query(awaited.listener, &attributes), "ucp_listener_query");
  const auto* bound = reinterpret_cast<const std::uint8_t*>(&attributes.sockaddr);
  rendezvous.put(key, {bound, bound + address.length()}, progress);

  // The client says that it has called ucp_ep_create; the request follows by itself. The harness's
  // watchdog bounds this loop.
  while (awaited.request == nullptr) progress();
  ucp_ep_params_t ep_params{};
  ep_params.field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST;
  ep_params.conn_request = awaited.request;
  set_errors(ep_params, errors);
  ucp_ep_h endpoint = nullptr;
  check(ucp_ep_create(worker.handle(), &ep_params, &endpoint), "ucp_ep_create (accepting)");
  return endpoint;
}

}  // namespace

std::vector<std::string> UcxEndpoint::lanes() const {
  const auto queried = queried_lanes(endpoint_);
  return queried.empty() ? printed_lanes(endpoint_) : queried;
}

std::string UcxEndpoint::printed_info(ucp_worker_h worker) const {
  return printed([&](std::FILE* out) {
    ucp_ep_print_info(endpoint_, out);
    ucp_worker_print_info(worker, out);
  });
}

std::optional<double> UcxEndpoint::evaluated_us(std::uint64_t bytes) const {
  ucp_ep_evaluate_perf_param_t of{};
  of.field_mask = UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE;
  of.message_size = bytes;
  ucp_ep_evaluate_perf_attr_t attributes{};
  attributes.field_mask = UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME;
  if (ucp_ep_evaluate_perf(endpoint_, &of, &attributes) != UCS_OK) return std::nullopt;
  const auto us = attributes.estimated_time * 1e6;
  return std::isfinite(us) && us > 0 ? std::optional(us) : std::nullopt;
}

void UcxEndpoint::close(const Rendezvous::Progress& progress) {
  begin_close();
  while (!is_over()) progress();
}

void UcxEndpoint::begin_close() {
  ucp_request_param_t params{};
  auto* request = ucp_ep_close_nbx(endpoint_, &params);
  endpoint_ = nullptr;
  if (request == nullptr) return;
  if (UCS_PTR_IS_ERR(request)) {
    // A peer that closed first has ended the connection, and nothing is left to flush.
    const auto status = UCS_PTR_STATUS(request);
    if (status == UCS_ERR_ENDPOINT_TIMEOUT || status == UCS_ERR_CONNECTION_RESET) return;
    check(status, "ucp_ep_close_nbx");
  }
  under_way_ = request;
}

void UcxEndpoint::begin_flush() {
  const ucp_request_param_t params{};
  auto* request = ucp_ep_flush_nbx(endpoint_, &params);
  if (UCS_PTR_IS_ERR(request)) check(UCS_PTR_STATUS(request), "ucp_ep_flush_nbx");
  under_way_ = request;
}

bool UcxEndpoint::is_over() {
  if (under_way_ == nullptr) return true;
  if (ucp_request_check_status(under_way_) == UCS_INPROGRESS) return false;
  ucp_request_free(std::exchange(under_way_, nullptr));
  return true;
}

std::vector<Rendezvous::Bytes> exchange_addresses(const UcxWorker& worker, Rendezvous& rendezvous,
                                                  const Rendezvous::Progress& progress) {
  return rendezvous.all_gather("addresses", address_and_version(worker), progress);
}

Rendezvous::Bytes exchange_address(const UcxWorker& worker, Rendezvous& rendezvous, int peer,
                                   const std::string& name, const Rendezvous::Progress& progress) {
  const auto key = [&](int rank) { return fmt::format("address/{}/{}", name, rank); };
  rendezvous.put(key(rendezvous.rank()), address_and_version(worker), progress);
  return rendezvous.get(key(peer), progress);
}

ucp_ep_h connect_to_address(const UcxWorker& worker, const Rendezvous::Bytes& address, int rank,
                            int peer, ErrorMode errors) {
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  params.address = reinterpret_cast<const ucp_address_t*>(address.data());
  set_errors(params, errors);
  ucp_ep_h endpoint = nullptr;
  check_connection(ucp_ep_create(worker.handle(), &params, &endpoint), worker, rank, peer, errors,
                   version_behind(address));
  return endpoint;
}

ucp_ep_h connect_by_sockaddr(const UcxWorker& worker, Rendezvous& rendezvous, int peer,
                             const std::string& name, const std::string& net_devices,
                             const Rendezvous::Progress& progress, ErrorMode errors) {
  const auto key = fmt::format("listener/{}/{}", name, std::min(peer, rendezvous.rank()));
  if (rendezvous.rank() < peer) {
    return accept_one(worker, rendezvous, key, net_devices, progress, errors);
  }
  const auto address = rendezvous.get(key, progress);
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_SOCK_ADDR | UCP_EP_PARAM_FIELD_FLAGS;
  params.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
  params.sockaddr = {reinterpret_cast<const sockaddr*>(address.data()),
                     static_cast<socklen_t>(address.size())};
  set_errors(params, errors);
  ucp_ep_h endpoint = nullptr;
  check_connection(ucp_ep_create(worker.handle(), &params, &endpoint), worker, rendezvous.rank(),
                   peer, errors);
  return endpoint;
}

}  // namespace ucxbench
