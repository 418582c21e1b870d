#include "harness/comm/worker.hpp"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "harness/core/print.hpp"
#include "harness/core/text.hpp"
#include "harness/transports/printed.hpp"
#include "harness/transports/ucx_error.hpp"
#include "harness/transports/ucx_version.hpp"

namespace ucxbench {
namespace {

std::map<std::string, std::string> read_settings(ucp_config_t* config) {
  std::map<std::string, std::string> settings;
  const auto text = printed(
      [&](std::FILE* out) { ucp_config_print(config, out, nullptr, UCS_CONFIG_PRINT_CONFIG); });
  for (const auto line : split_text(text, '\n')) {
    const auto equals = line.find('=');
    if (line.starts_with("UCX_") && equals != std::string_view::npos) {
      settings.emplace(line.substr(0, equals), line.substr(equals + 1));
    }
  }
  return settings;
}

// Of those that UCX may use: what its "No such device" does not say.
std::string down_devices(const std::map<std::string, std::string>& settings) {
  ifaddrs* all = nullptr;
  const auto named = settings.find("UCX_NET_DEVICES");
  if (named == settings.end() || getifaddrs(&all) != 0) return "";
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> release(all, &freeifaddrs);
  std::string down;
  for (const auto name : split_text(named->second, ',')) {
    for (const auto* entry = all; entry != nullptr; entry = entry->ifa_next) {
      constexpr unsigned works = IFF_UP | IFF_RUNNING;
      if (name != entry->ifa_name || (entry->ifa_flags & works) == works) continue;
      down += fmt::format("; network device {} is down", name);
      break;
    }
  }
  return down;
}

std::uint64_t features_of(Api api) {
  switch (api) {
    case Api::tag:
      return UCP_FEATURE_TAG;
    case Api::stream:
      return UCP_FEATURE_STREAM;
    case Api::am:
      return UCP_FEATURE_AM;
    case Api::put:
    case Api::get:
      return UCP_FEATURE_RMA;
    case Api::fadd:
    case Api::swap:
    case Api::cswap:
      break;
  }
  return UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64;
}

}  // namespace

bool UcxWorker::can_count() {
  return ucx_version() >= UcxVersion{.major = 1, .minor = 21} &&
         std::getenv("UCX_PROTO_INFO") == nullptr && std::getenv("UCX_LOG_FILE") == nullptr;
}

UcxWorker::UcxWorker(std::span<const Api> used, ProgressMode mode, bool counts,
                     const std::map<std::string, std::string>& settings, Sharing sharing) {
  const bool threaded = mode.kind == ProgressMode::Kind::thread;
  const bool wakes = threaded || mode.kind == ProgressMode::Kind::event;

  ucp_config_t* config = nullptr;
  check(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read", Exit::cannot_run);
  const std::unique_ptr<ucp_config_t, decltype(&ucp_config_release)> release(config,
                                                                             &ucp_config_release);
  effective_ = read_settings(config);
  if (counts && can_count()) {
    check(ucp_config_modify(config, "PROTO_INFO", "used"), "ucp_config_modify");
  }
  for (const auto& [name, value] : settings) {
    check(ucp_config_modify(config, name.c_str(), value.c_str()), "ucp_config_modify",
          Exit::cannot_run);
  }

  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES;
  for (const auto api : used) params.features |= features_of(api);
  if (wakes) params.features |= UCP_FEATURE_WAKEUP;
  if (sharing == Sharing::context) {
    params.field_mask |= UCP_PARAM_FIELD_MT_WORKERS_SHARED;
    params.mt_workers_shared = 1;
  }
  ucp_context_h context = nullptr;
  if (const auto status = ucp_init(&params, config, &context); status != UCS_OK) {
    throw Failure(Exit::cannot_run, fmt::format("ucp_init: {}{}", ucs_status_string(status),
                                                down_devices(effective_)));
  }
  context_.reset(context, &ucp_cleanup);
  if (sharing == Sharing::context) {
    ucp_context_attr_t attributes{};
    attributes.field_mask = UCP_ATTR_FIELD_THREAD_MODE;
    check(ucp_context_query(context, &attributes), "ucp_context_query");
    if (attributes.thread_mode != UCS_THREAD_MODE_MULTI) {
      throw Failure(Exit::cannot_run, "--threads: this UCX was built without --enable-mt");
    }
  }
  create(threaded || sharing == Sharing::worker ? UCS_THREAD_MODE_MULTI
         : sharing == Sharing::context          ? UCS_THREAD_MODE_SERIALIZED
                                                : UCS_THREAD_MODE_SINGLE);
  ucp_worker_attr_t attributes{};
  attributes.field_mask = UCP_WORKER_ATTR_FIELD_THREAD_MODE;
  const auto queried = ucp_worker_query(worker_, &attributes);
  const bool multi = threaded || sharing == Sharing::worker;
  if (queried != UCS_OK || (multi && attributes.thread_mode != UCS_THREAD_MODE_MULTI)) {
    ucp_worker_destroy(worker_);
    check(queried, "ucp_worker_query");
    throw Failure(Exit::cannot_run,
                  fmt::format("{}: this UCX was built without --enable-mt",
                              threaded ? "--progress-mode thread" : "--workers shared"));
  }
}

UcxWorker::UcxWorker(std::shared_ptr<ucp_context> context, ucs_thread_mode_t mode)
    : context_(std::move(context)) {
  create(mode);
}

void UcxWorker::create(ucs_thread_mode_t mode) {
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = mode;
  check(ucp_worker_create(context_.get(), &params, &worker_), "ucp_worker_create",
        Exit::cannot_run);
}

std::unique_ptr<UcxWorker> UcxWorker::another() const {
  return std::unique_ptr<UcxWorker>(new UcxWorker(context_, UCS_THREAD_MODE_SERIALIZED));
}

UcxWorker::~UcxWorker() {
  if (worker_ != nullptr) ucp_worker_destroy(worker_);
}

std::vector<ProtocolUse> UcxWorker::end() {
  auto [used, rest] = parse_protocol_tables(
      printed_to_stdout([this] { ucp_worker_destroy(std::exchange(worker_, nullptr)); }));
  print_to(stdout, "{}", rest);
  return used;
}

std::vector<std::uint8_t> UcxWorker::address() const {
  ucp_address_t* address = nullptr;
  std::size_t length = 0;
  check(ucp_worker_get_address(worker_, &address, &length), "ucp_worker_get_address");
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(address);
  std::vector<std::uint8_t> copy(bytes, bytes + length);
  ucp_worker_release_address(worker_, address);
  return copy;
}

}  // namespace ucxbench
