#include "harness/comm/resources.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <ucp/api/ucp.h>
#include <uct/api/uct.h>

#include <algorithm>
#include <memory>

#include "harness/comm/ucx_error.hpp"

namespace ucxbench {
namespace {

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

}  // namespace

bool UcxResources::has_component(std::string_view name) const {
  return std::find(components.begin(), components.end(), name) != components.end();
}

bool UcxResources::has_transport(std::string_view name) const {
  return std::any_of(resources.begin(), resources.end(),
                     [&](const UcxResource& resource) { return resource.transport == name; });
}

void to_json(nlohmann::ordered_json& json, const UcxResources& from) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& [component, transport, device] : from.resources) {
    list.push_back({{"component", component}, {"transport", transport}, {"device", device}});
  }
  json = {{"version", from.version},      {"headers", from.headers},
          {"library", from.library},      {"components", from.components},
          {"resources", std::move(list)}, {"multi_threaded", from.multi_threaded}};
}

void from_json(const nlohmann::ordered_json& json, UcxResources& to) {
  json.at("version").get_to(to.version);
  json.at("headers").get_to(to.headers);
  json.at("library").get_to(to.library);
  json.at("components").get_to(to.components);
  json.at("multi_threaded").get_to(to.multi_threaded);
  for (const auto& entry : json.at("resources")) {
    to.resources.push_back({entry.at("component"), entry.at("transport"), entry.at("device")});
  }
}

UcxResources query_ucx() {
  UcxResources found;
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  ucp_get_version(&major, &minor, &release);
  found.version = fmt::format("{}.{}.{}", major, minor, release);
  found.headers = fmt::format("{}.{}", UCP_API_MAJOR, UCP_API_MINOR);
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&ucp_get_version), &info) != 0 && info.dli_fname) {
    found.library = info.dli_fname;
  }
  ucp_lib_attr_t attributes{};
  attributes.field_mask = UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL;
  check(ucp_lib_query(&attributes), "ucp_lib_query", Exit::cannot_run);
  found.multi_threaded = attributes.max_thread_level == UCS_THREAD_MODE_MULTI;

  uct_component_h* components = nullptr;
  unsigned count = 0;
  check(uct_query_components(&components, &count), "uct_query_components", Exit::cannot_run);
  const std::unique_ptr<uct_component_h, decltype(&uct_release_component_list)> release_list(
      components, &uct_release_component_list);
  for (unsigned i = 0; i < count; ++i) add_component(components[i], found);
  return found;
}

}  // namespace ucxbench
