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
#include "harness/core/json_depth.hpp"

namespace ucxbench {
namespace {

constexpr std::string_view schema_stem = "ucx-bench/run/";

/// Builds the JSON of a run file without its launches: each is turned into a record as soon as it
/// is there. As JSON, those of hundreds of ranks would take six times the memory.
class Reader : public nlohmann::json_sax<Json> {
 public:
  Json parse(const std::string& text) {
    Json::sax_parse(text, this);
    return std::move(root_);
  }
  /// What was wrong with a launch is thrown here: only now is it known that the file is a run.
  Launches launches() {
    if (wrong_) std::rethrow_exception(wrong_);
    return std::move(launches_);
  }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(std::int64_t value) override { return put(value); }
  bool number_unsigned(std::uint64_t value) override { return put(value); }
  bool number_float(double value, const std::string&) override { return put(value); }
  bool string(std::string& value) override { return put(std::move(value)); }
  bool binary(Json::binary_t& value) override { return put(std::move(value)); }

  bool start_object(std::size_t) override {
    open(Json::object());
    if (open_.size() == case_level && in_cases_) launches_.emplace_back();
    return true;
  }
  bool start_array(std::size_t) override {
    open(Json::array());
    return true;
  }
  bool key(std::string& name) override {
    if (open_.size() == 1) in_cases_ = name == "cases";
    if (open_.size() == case_level) in_launches_ = name == "launches";
    name_ = std::move(name);
    return true;
  }
  bool end_object() override {
    const bool is_launch = open_.size() == launch_level && in_cases_ && in_launches_ &&
                           open_[launch_level - 2]->is_array() && !launches_.empty();
    if (is_launch) take_launch(*open_.back());
    open_.pop_back();
    if (is_launch) open_.back()->get_ref<Json::array_t&>().pop_back();
    return true;
  }
  bool end_array() override {
    open_.pop_back();
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const Json::exception& error) override {
    if (const auto* broken = dynamic_cast<const Json::parse_error*>(&error)) throw *broken;
    throw dynamic_cast<const Json::out_of_range&>(error);
  }

 private:
  // Of what is open: the run, its cases, a case, its launches, a launch.
  static constexpr std::size_t case_level = 3, launch_level = 5;

  Json* place(Json value) {
    if (open_.empty()) return &(root_ = std::move(value));
    auto& in = *open_.back();
    if (in.is_object()) return &(in[name_] = std::move(value));
    in.push_back(std::move(value));
    return &in.back();
  }
  bool put(Json value) {
    place(std::move(value));
    return true;
  }
  void open(Json value) { open_.push_back(place(std::move(value))); }
  void take_launch(const Json& launch) {
    try {
      if (!wrong_) launches_.back().push_back(launch_from_json(launch));
    } catch (const std::exception&) {
      wrong_ = std::current_exception();
    }
  }

  Json root_;
  std::vector<Json*> open_;  // from the root to what is being read
  std::string name_;         // of the next member
  Launches launches_;
  std::exception_ptr wrong_;
  bool in_cases_ = false, in_launches_ = false;
};

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw Failure(Exit::usage, "'" + name + "' " + in_one_line(why));
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
  if (too_deep(text)) {
    refuse(name, "is not a ucx-bench run (JSON of more than " + std::to_string(most_json_levels) +
                     " levels); give a file written by ucx-bench --json");
  }
  Json json;
  Reader reader;
  try {
    json = reader.parse(text);
  } catch (const Json::parse_error& error) {
    refuse(name, "is not whole JSON (it ends or breaks at byte " + std::to_string(error.byte) +
                     " of " + std::to_string(text.size()) +
                     "); give a file written by ucx-bench --json");
  } catch (const Json::out_of_range&) {
    refuse(name,
           "is not a ucx-bench run (a number in it is too large for any); give a file written "
           "by ucx-bench --json");
  }
  if (!json.is_object() || json.value("schema", Json()) != run_schema) refuse_schema(name, json);
  try {
    return result_from(std::move(json), reader.launches());
  } catch (const std::exception& error) {
    refuse(name, "is a damaged ucx-bench run (" + why_not_json(error) +
                     "); give it as ucx-bench --json wrote it");
  }
}

}  // namespace ucxbench
