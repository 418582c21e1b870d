#pragma once

// What reading any TOML file of ours has in common; all of it throws Failure(Exit::usage).

#include <toml++/toml.h>

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "harness/core/failure.hpp"

namespace ucxbench {

/// `what` completes "give …" for a file that cannot be read: "a suite's TOML file".
toml::table parse_toml(const std::string& file, const std::string& what);

/// "site.toml:7".
std::string toml_place(const std::string& file, const toml::node& node);

[[noreturn]] void refuse_toml(const std::string& place, const std::string& why);

/// What `parse` returns; a Failure of it is at `place`.
template <typename Parse>
std::invoke_result_t<Parse> at_toml(const std::string& place, Parse parse) {
  try {
    return parse();
  } catch (const Failure& failure) {
    refuse_toml(place, failure.what());
  }
}

/// A whole number at `key`, empty where there is none.
std::optional<int> toml_number(const toml::table& table, const std::string& key, int least,
                               int most, const std::string& file);

/// The entries of [[KEY]]; at least one. `purpose` says what nothing can be done without: "check".
const toml::array& toml_entries(const toml::table& table, const std::string& key,
                                const std::string& purpose, const std::string& file);

/// Refuses a key that is none of `known`; `of` follows the place: ": case 2".
void check_toml_keys(const toml::table& table, const std::vector<std::string>& known,
                     const std::string& file, const std::string& of);

}  // namespace ucxbench
