#include "harness/result/parse.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/core/failure.hpp"
#include "harness/core/json_builder.hpp"
#include "harness/result/run_types.hpp"

namespace ucxbench {
namespace {

constexpr std::string_view schema_stem = "ucx-bench/run/";

/// Builds the JSON of a run file without its launches: each is turned into a record as soon as it
/// is there. As JSON, those of hundreds of ranks would take six times the memory.
class Reader : public JsonBuilder<Json> {
 public:
  Json parse(const std::string& text) {
    Json::sax_parse(text, this);
    return take();
  }
  /// What was wrong with a launch is thrown here: only now is it known that the file is a run.
  Launches launches() {
    if (wrong_) std::rethrow_exception(wrong_);
    return std::move(launches_);
  }

  bool start_object(std::size_t size) override {
    JsonBuilder::start_object(size);
    if (open().size() == case_level && in_cases_) launches_.emplace_back();
    return true;
  }
  bool key(std::string& name) override {
    if (open().size() == 1) in_cases_ = name == "cases";
    if (open().size() == case_level) in_launches_ = name == "launches";
    return JsonBuilder::key(name);
  }
  bool end_object() override {
    const bool is_launch = open().size() == launch_level && in_cases_ && in_launches_ &&
                           open()[launch_level - 2]->is_array() && !launches_.empty();
    JsonBuilder::end_object();
    if (!is_launch) return true;
    auto& of_case = open().back()->get_ref<Json::array_t&>();
    take_launch(of_case.back());
    of_case.pop_back();
    return true;
  }

 private:
  // Of what is open: the run, its cases, a case, its launches, a launch.
  static constexpr std::size_t case_level = 3, launch_level = 5;

  void take_launch(const Json& launch) {
    try {
      if (wrong_) return;
      check_types(launch, RunPart::launch);
      launches_.back().push_back(launch_from_json(launch));
    } catch (const std::exception&) {
      wrong_ = std::current_exception();
    }
  }

  Launches launches_;
  std::exception_ptr wrong_;
  bool in_cases_ = false, in_launches_ = false;
};

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw Failure(Exit::usage, "'" + name + "' " + in_one_line(why));
}

[[noreturn]] void refuse(const std::string& name, const BadJson& bad, std::size_t size) {
  const std::string why = bad.what();
  std::string what = "is not a ucx-bench run (" + why + ")";
  if (bad.flaw == JsonFlaw::broken) {
    what = "is not whole JSON (" + why + " of " + std::to_string(size) + ")";
  } else if (bad.flaw == JsonFlaw::key_twice) {
    what = "is a damaged ucx-bench run (" + why + ", and nobody knows which of them counts)";
  }
  refuse(name, what + "; give a file written by ucx-bench --json");
}

/// Says what is wrong with a file that names another schema, or none.
[[noreturn]] void refuse_schema(const std::string& name, const Json& json) {
  const auto found = json.is_object() ? json.find("schema") : json.end();
  const bool named = json.is_object() && found != json.end() && found->is_string();
  const auto schema = named ? found->get<std::string>() : std::string();
  int major = 0;
  const auto current = std::string_view(run_schema).substr(schema_stem.size());
  int known = 0;
  std::from_chars(current.data(), current.data() + current.size(), known);
  if (schema.starts_with(schema_stem)) {
    std::from_chars(schema.data() + schema_stem.size(), schema.data() + schema.size(), major);
  }
  if (major > known) {
    refuse(name, "was made by a newer ucx-bench (" + schema + ", this one reads " + run_schema +
                     "); update ucx-bench");
  }
  refuse(name, std::string("is not a ucx-bench run (no \"schema\": \"") + run_schema +
                   "\"); give a file written by ucx-bench --json");
}

}  // namespace

Result parse_result(const std::string& text, const std::string& name) {
  if (text.empty()) refuse(name, "is empty; give a file written by ucx-bench --json");
  Json json;
  Reader reader;
  try {
    json = reader.parse(text);
  } catch (const BadJson& bad) {
    refuse(name, bad, text.size());
  }
  if (!json.is_object() || json.value("schema", Json()) != run_schema) refuse_schema(name, json);
  try {
    check_types(json, RunPart::run_without_launches);
    return result_from(std::move(json), reader.launches());
  } catch (const std::exception& error) {
    refuse(name, "is a damaged ucx-bench run (" + why_not_json(error) +
                     "); give it as ucx-bench --json wrote it");
  }
}

}  // namespace ucxbench
