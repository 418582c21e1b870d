#include "harness/core/json.hpp"

#include "harness/core/literal.hpp"

template class nlohmann::basic_json<ucxbench::Members>;

namespace ucxbench {

std::string json_text(const Json& json, int indent) {
  return for_json_text(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace ucxbench
