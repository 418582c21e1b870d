#include "harness/transports/resources.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <ucp/api/ucp.h>
#include <uct/api/uct.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "harness/core/files.hpp"
#include "harness/core/json.hpp"
#include "harness/result/transports.hpp"
#include "harness/transports/known_settings.hpp"
#include "harness/transports/ucx_error.hpp"
#include "harness/transports/ucx_version.hpp"

namespace ucxbench {
namespace {

void add_gpu_direct(uct_md_h md, const std::string& device, UcxResources& found) {
  uct_md_attr_t attributes{};
  if (uct_md_query(md, &attributes) != UCS_OK) return;
  if ((attributes.cap.reg_mem_types & UCS_BIT(UCS_MEMORY_TYPE_CUDA)) != 0) {
    found.registers_gpu_memory.push_back(device);
  }
#if UCP_API_VERSION >= UCP_VERSION(1, 14)
  if ((attributes.cap.flags & UCT_MD_FLAG_REG_DMABUF) != 0) found.takes_dma_buf.push_back(device);
#endif
}

void add_resources(uct_component_h component, const std::string& component_name,
                   const uct_md_resource_desc_t& md_resource, UcxResources& found) {
  uct_md_config_t* config = nullptr;
  if (uct_md_config_read(component, nullptr, nullptr, &config) != UCS_OK) return;
  uct_md_h md = nullptr;
  const auto opened = uct_md_open(component, md_resource.md_name, config, &md);
  uct_config_release(config);
  if (opened != UCS_OK) return;
  uct_tl_resource_desc_t* resources = nullptr;
  unsigned count = 0;
  if (uct_md_query_tl_resources(md, &resources, &count) == UCS_OK) {
    for (unsigned i = 0; i < count; ++i) {
      found.resources.push_back({component_name, resources[i].tl_name, resources[i].dev_name});
    }
    uct_release_tl_resource_list(resources);
  }
  if (component_name == "ib") add_gpu_direct(md, md_resource.md_name, found);
  uct_md_close(md);
}

void add_component(uct_component_h component, UcxResources& found) {
  uct_component_attr_t attributes{};
  attributes.field_mask =
      UCT_COMPONENT_ATTR_FIELD_NAME | UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT;
  if (uct_component_query(component, &attributes) != UCS_OK) return;
  const std::string name = attributes.name;
  found.components.push_back(name);
  std::vector<uct_md_resource_desc_t> md_resources(attributes.md_resource_count);
  attributes.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
  attributes.md_resources = md_resources.data();
  if (md_resources.empty() || uct_component_query(component, &attributes) != UCS_OK) return;
  for (const auto& md_resource : md_resources) add_resources(component, name, md_resource, found);
}

std::string library_of(const void* function) {
  Dl_info info{};
  return dladdr(function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

void refuse_unusable(const UcxResources& found, const UcxVersion& version) {
  if (version < UcxVersion{.major = 1, .minor = 13}) {
    throw Failure(Exit::cannot_run, fmt::format("UCX {} ({}): 1.13 or newer is needed",
                                                found.version, found.library));
  }
  if (version < UcxVersion{.major = UCP_API_MAJOR, .minor = UCP_API_MINOR}) {
    throw Failure(Exit::cannot_run,
                  fmt::format("UCX {} ({}) is older than the {} that this program was built with: "
                              "two versions of UCX are mixed; see LD_LIBRARY_PATH",
                              found.version, found.library, found.headers));
  }
  const auto folder = [](const std::string& file) {
    return std::filesystem::path(file).parent_path();
  };
  for (const auto& library : {library_of(reinterpret_cast<const void*>(&uct_query_components)),
                              library_of(reinterpret_cast<const void*>(&ucs_status_string))}) {
    if (folder(library) == folder(found.library)) continue;
    throw Failure(
        Exit::cannot_run,
        fmt::format("two versions of UCX are mixed: {} and {}; see LD_LIBRARY_PATH and LD_PRELOAD",
                    found.library, library));
  }
}

// Where UCX looks itself: ucs/sys/module.c.
std::filesystem::path module_folder(const UcxResources& found) {
  if (const char* chosen = std::getenv("UCX_MODULE_DIR")) return chosen;
  return std::filesystem::path(found.library).parent_path() / "ucx";
}

void try_modules(UcxResources& found) {
  for (const auto& transport : transports()) {
    if (transport.module.empty() || found.has_component(transport.component)) continue;
    const auto file = std::filesystem::path(found.modules) / transport.module;
    if (!std::filesystem::exists(file)) continue;
    if (::dlopen(file.c_str(), RTLD_LAZY) == nullptr) {
      found.broken_modules[std::string(transport.module)] = ::dlerror();
    }
  }
}

std::map<std::string, std::string> idle_interfaces() {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> release(all, &freeifaddrs);
  std::map<std::string, std::string> idle;
  std::set<std::string> addressed;
  for (const auto* entry = all; entry != nullptr; entry = entry->ifa_next) {
    const bool up = (entry->ifa_flags & IFF_UP) != 0;
    idle.emplace(entry->ifa_name, up ? "has no IPv4 address" : "is down");
    const bool ip4 = entry->ifa_addr != nullptr && entry->ifa_addr->sa_family == AF_INET;
    if (up && ip4) addressed.insert(entry->ifa_name);
  }
  for (const auto& name : addressed) idle.erase(name);
  return idle;
}

}  // namespace

std::string in_words(const UcxResource& resource) {
  return resource.transport + "/" + resource.device;
}

void to_json(Json& json, const UcxResources& from) {
  auto list = Json::array();
  for (const auto& [component, transport, device] : from.resources) {
    list.push_back({{"component", component}, {"transport", transport}, {"device", device}});
  }
  json = {{"version", from.version},
          {"headers", from.headers},
          {"library", from.library},
          {"components", from.components},
          {"resources", std::move(list)},
          {"multi_threaded", from.multi_threaded},
          {"rdma_devices", from.rdma_devices},
          {"registers_gpu_memory", from.registers_gpu_memory},
          {"takes_dma_buf", from.takes_dma_buf},
          {"broken_modules", from.broken_modules},
          {"idle_interfaces", from.idle_interfaces},
          {"modules", from.modules},
          {"settings", from.settings}};
  if (from.lockable_bytes) json["lockable_bytes"] = *from.lockable_bytes;
}

void from_json(const Json& json, UcxResources& to) {
  json.at("version").get_to(to.version);
  json.at("headers").get_to(to.headers);
  json.at("library").get_to(to.library);
  json.at("components").get_to(to.components);
  json.at("multi_threaded").get_to(to.multi_threaded);
  json.at("rdma_devices").get_to(to.rdma_devices);
  json.at("registers_gpu_memory").get_to(to.registers_gpu_memory);
  json.at("takes_dma_buf").get_to(to.takes_dma_buf);
  if (json.contains("lockable_bytes")) {
    to.lockable_bytes = json.at("lockable_bytes").get<std::uint64_t>();
  }
  json.at("broken_modules").get_to(to.broken_modules);
  json.at("idle_interfaces").get_to(to.idle_interfaces);
  json.at("modules").get_to(to.modules);
  json.at("settings").get_to(to.settings);
  for (const auto& entry : json.at("resources")) {
    to.resources.push_back({entry.at("component").get<std::string>(),
                            entry.at("transport").get<std::string>(),
                            entry.at("device").get<std::string>()});
  }
}

std::optional<std::uint64_t> raise_lockable_bytes() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return {};
  const rlimit raised{limit.rlim_max, limit.rlim_max};
  if (setrlimit(RLIMIT_MEMLOCK, &raised) == 0) limit = raised;
  if (limit.rlim_cur == RLIM_INFINITY) return {};
  constexpr std::uint64_t cap_ipc_lock = 1U << 14U;
  std::ifstream status("/proc/self/status");
  for (std::string key, value; status >> key && std::getline(status, value);) {
    if (key == "CapEff:" && (std::stoull(value, nullptr, 16) & cap_ipc_lock) != 0) return {};
  }
  return limit.rlim_cur;
}

UcxResources query_ucx() {
  UcxResources found;
  const auto version = ucx_version();
  found.version = to_string(version);
  found.headers = fmt::format("{}.{}", UCP_API_MAJOR, UCP_API_MINOR);
  found.library = library_of(reinterpret_cast<const void*>(&ucp_get_version));
  refuse_unusable(found, version);
  ucp_lib_attr_t attributes{};
  attributes.field_mask = UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL;
  check(ucp_lib_query(&attributes), "ucp_lib_query", Exit::cannot_run);
  found.lockable_bytes = raise_lockable_bytes();
  found.idle_interfaces = idle_interfaces();
  found.rdma_devices = !entries_of("/sys/class/infiniband").empty();
  found.multi_threaded = attributes.max_thread_level == UCS_THREAD_MODE_MULTI;

  uct_component_h* components = nullptr;
  unsigned count = 0;
  check(uct_query_components(&components, &count), "uct_query_components", Exit::cannot_run);
  const std::unique_ptr<uct_component_h, decltype(&uct_release_component_list)> release_list(
      components, &uct_release_component_list);
  for (unsigned i = 0; i < count; ++i) add_component(components[i], found);
  found.modules = module_folder(found);
  try_modules(found);
  found.settings = known_ucx_settings();
  return found;
}

}  // namespace ucxbench
