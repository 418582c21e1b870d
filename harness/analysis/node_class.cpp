#include "harness/analysis/node_class.hpp"

#include <fmt/format.h>

#include <map>

#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

std::vector<std::string> counted_models(const Json& host, const char* kind) {
  std::map<std::string, int> counts;
  for (const auto& model : host.value(kind, Json::array())) ++counts[text_at(model, "")];
  std::vector<std::string> texts;
  for (const auto& [model, count] : counts) texts.push_back(fmt::format("{} x {}", count, model));
  return texts;
}

}  // namespace

NodeClass class_of_host(const Json& host) {
  return {.name = {},
          .cpu = text_at(host, "/cpu_model", ""),
          .gpus = counted_models(host, "gpus"),
          .nics = counted_models(host, "nics")};
}

std::string in_words(const NodeClass& node) {
  std::vector<std::string> parts = {"CPU " + (node.cpu.empty() ? "?" : node.cpu)};
  parts.push_back(node.gpus.empty() ? "no GPUs" : join(node.gpus, ", "));
  parts.push_back(node.nics.empty() ? "no NICs" : join(node.nics, ", "));
  return join(parts, ", ");
}

}  // namespace ucxbench
