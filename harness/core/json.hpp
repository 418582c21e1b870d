#pragma once

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ucxbench {

/// The members of a JSON object in their order, as nlohmann::ordered_map has them, but with keys
/// that can be moved: where they are const, an object that grows copies everything below it. A run
/// of 256 ranks, 54 MB, is parsed in a third of the time.
template <typename Key, typename Value, typename, typename>
class Members : public std::vector<std::pair<Key, Value>> {
  using Base = std::vector<std::pair<Key, Value>>;

 public:
  using key_type = Key;
  using mapped_type = Value;
  using key_compare = std::equal_to<>;
  using Base::Base;
  using typename Base::const_iterator;
  using typename Base::iterator;
  using typename Base::size_type;
  using typename Base::value_type;

  iterator find(std::string_view key) {
    return std::find_if(this->begin(), this->end(),
                        [key](const auto& at) { return std::string_view(at.first) == key; });
  }
  const_iterator find(std::string_view key) const {
    return std::find_if(this->begin(), this->end(),
                        [key](const auto& at) { return std::string_view(at.first) == key; });
  }
  size_type count(std::string_view key) const { return find(key) == this->end() ? 0 : 1; }
  Value& at(std::string_view key) {
    const auto found = find(key);
    if (found == this->end()) throw std::out_of_range("key not found");
    return found->second;
  }
  const Value& at(std::string_view key) const { return const_cast<Members*>(this)->at(key); }
  template <typename Name>
  Value& operator[](Name&& key) {
    const auto found = find(key);
    if (found != this->end()) return found->second;
    this->emplace_back(Key(std::forward<Name>(key)), Value());
    return this->back().second;
  }
  const Value& operator[](std::string_view key) const { return at(key); }

  template <typename Name>
  std::pair<iterator, bool> emplace(Name&& key, Value value) {
    const auto found = find(key);
    if (found != this->end()) return {found, false};
    this->emplace_back(Key(std::forward<Name>(key)), std::move(value));
    return {std::prev(this->end()), true};
  }
  std::pair<iterator, bool> insert(value_type member) {
    return emplace(std::move(member.first), std::move(member.second));
  }
  template <typename Iterator>
  void insert(Iterator first, Iterator last) {
    for (; first != last; ++first) insert(*first);
  }

  size_type erase(const Key& key) {
    const auto found = find(key);
    if (found == this->end()) return 0;
    Base::erase(found);
    return 1;
  }
  iterator erase(const_iterator at) { return Base::erase(at); }
  iterator erase(const_iterator first, const_iterator last) { return Base::erase(first, last); }
};

/// Whose objects keep the order of their members.
using Json = nlohmann::basic_json<Members>;

/// Its text, of one line without `indent`. Bytes that are no UTF-8 are replaced; characters that
/// act on a terminal are spelt as escapes (for_json_text).
std::string json_text(const Json& json, int indent = -1);

}  // namespace ucxbench

// In json.cpp, for all: compiled once, and for speed.
extern template class nlohmann::basic_json<ucxbench::Members>;
