#include "harness/result/labels.hpp"

#include <algorithm>

#include "harness/core/text.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

void add_own(const Case& of, std::vector<std::string>& labels) {
  for (const auto& label : of.labels) add_once(labels, on_one_line(label));
}

}  // namespace

std::string to_string(Label label) { return std::string(name_of(label_names, label)); }

bool has_label(const Json& path, Label label) {
  const auto labels = path.value("labels", Json::array());
  return std::ranges::find(labels, Json(to_string(label))) != labels.end();
}

bool has_label(const Case& of, Label label) {
  return std::ranges::find(of.labels, to_string(label)) != of.labels.end();
}

std::vector<std::string> labels_of_machine(const Result& result) {
  std::vector<std::string> labels;
  for (const auto& label : texts_of(result.machine.value("labels", Json::array()))) {
    add_once(labels, on_one_line(label));
  }
  return labels;
}

std::vector<std::string> labels_of(const Result& result, const Case& of) {
  auto labels = labels_of_machine(result);
  add_own(of, labels);
  return labels;
}

std::vector<std::string> labels_of(const Result& result) {
  auto labels = labels_of_machine(result);
  for (const auto& of : result.cases) add_own(of, labels);
  return labels;
}

void add_labels_of_older(Result& run) {
  const bool says = std::ranges::any_of(run.ranks, [](const Json& rank) {
    return rank.is_object() && rank.value("device", Json()).contains("mps");
  });
  if (says) return;
  for (auto& of : run.cases) {
    if (has_label(of, Label::same_gpu)) add_once(of.labels, to_string(Label::time_sliced));
  }
}

}  // namespace ucxbench
