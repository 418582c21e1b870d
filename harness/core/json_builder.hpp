#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/core/read_json.hpp"

namespace ucxbench {

/// Builds a value from what a reader of text or of CBOR finds, within limits. `Value` is Json or
/// nlohmann::json.
template <typename Value>
class JsonBuilder : public nlohmann::json_sax<Value> {
 public:
  explicit JsonBuilder(const JsonLimits& limits = {}) : limits_(limits) {}

  Value take() { return std::move(root_); }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(std::int64_t value) override { return put(value); }
  bool number_unsigned(std::uint64_t value) override { return put(value); }
  bool number_float(double value, const std::string&) override { return put(value); }
  bool string(std::string& value) override { return put(std::move(value)); }
  bool binary(typename Value::binary_t& value) override { return put(std::move(value)); }

  bool start_object(std::size_t) override { return open(Value::object()); }
  bool start_array(std::size_t) override { return open(Value::array()); }
  bool key(std::string& name) override {
    auto& object = open_.back()->template get_ref<typename Value::object_t&>();
    if (object.size() == limits_.members) throw BadJson(JsonFlaw::many_members, limits_.members);
    if constexpr (keeps_order) {
      // Whether the key is new is found out at the object's end, for all of them at once.
      object.emplace_back(std::move(name), Value());
      member_ = &object.back().second;
    } else {
      const auto [at, added] = object.emplace(std::move(name), Value());
      if (!added) throw BadJson(JsonFlaw::key_twice, 0, at->first);
      member_ = &at->second;
    }
    return true;
  }
  bool end_object() override {
    if constexpr (keeps_order) check_keys();
    open_.pop_back();
    return true;
  }
  bool end_array() override {
    open_.pop_back();
    return true;
  }
  bool parse_error(std::size_t byte, const std::string&,
                   const nlohmann::detail::exception& error) override {
    const bool broken = dynamic_cast<const nlohmann::detail::parse_error*>(&error) != nullptr;
    throw BadJson(broken ? JsonFlaw::broken : JsonFlaw::large_number, byte);
  }

 protected:
  /// From the root to what is being read.
  const std::vector<Value*>& open() const { return open_; }

 private:
  static constexpr bool keeps_order = std::is_same_v<Value, Json>;

  Value* place(Value value) {
    if (++values_ > limits_.values) throw BadJson(JsonFlaw::many_values, limits_.values);
    if (open_.empty()) return &(root_ = std::move(value));
    if (open_.back()->is_object()) return &(*member_ = std::move(value));
    auto& array = open_.back()->template get_ref<typename Value::array_t&>();
    array.push_back(std::move(value));
    return &array.back();
  }
  bool put(Value value) {
    place(std::move(value));
    return true;
  }
  bool open(Value value) {
    if (open_.size() == most_json_levels) throw BadJson(JsonFlaw::too_deep, most_json_levels);
    open_.push_back(place(std::move(value)));
    return true;
  }
  void check_keys() {
    const auto& object = open_.back()->template get_ref<const typename Value::object_t&>();
    names_.clear();
    for (const auto& member : object) names_.emplace_back(member.first);
    std::sort(names_.begin(), names_.end());
    const auto twice = std::adjacent_find(names_.begin(), names_.end());
    if (twice != names_.end()) throw BadJson(JsonFlaw::key_twice, 0, std::string(*twice));
  }

  JsonLimits limits_;
  std::size_t values_ = 0;
  Value root_;
  std::vector<Value*> open_;
  Value* member_ = nullptr;              // that the next value is of
  std::vector<std::string_view> names_;  // of the object that ends
};

}  // namespace ucxbench
