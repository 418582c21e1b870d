#include "harness/result/run_types.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace ucxbench {
namespace {

std::string misfit(const Json& json, RunPart part = RunPart::run_without_launches) {
  try {
    check_types(json, part);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(RunTypes, AreThoseOfTheSchema) {
  EXPECT_EQ(misfit(Json::object()), "");
  EXPECT_EQ(misfit({{"unheard-of", 1}, {"run", {{"unheard-of", 1}}}}), "");
  EXPECT_EQ(misfit({{"cases", 3}}), "/cases is of another type: number");
  EXPECT_EQ(misfit({{"ranks", {{{"rank", 0}}, {{"rank", "one"}}}}}),
            "/ranks/1/rank is of another type: string");
  EXPECT_EQ(misfit({{"ranks", {{{"cpus", "0-3"}}, {{"cpus", {0, 1}}}, {{"cpus", nullptr}}}}}), "");
  EXPECT_EQ(misfit({{"ranks", {{{"cpus", {0, "1"}}}}}}),
            "/ranks/0/cpus/1 is of another type: string");
  // One of several rules, a member by any name, one of some names.
  EXPECT_EQ(misfit({{"run", {{"finished_utc", nullptr}}}}), "");
  EXPECT_EQ(misfit({{"run", {{"finished_utc", 7}}}}),
            "/run/finished_utc is of another type: number");
  EXPECT_EQ(misfit({{"ucx", {{"libraries", {{"libucp.so.0", 1}}}}}}),
            "/ucx/libraries/libucp.so.0 is of another type: number");
  EXPECT_EQ(misfit({{"run", {{"state", 1}}}}), "/run/state is of another type: number");
  EXPECT_EQ(misfit({{"lanes", {"tcp/lo", 1}}}, RunPart::launch),
            "/lanes/1 is of another type: number");
}

}  // namespace
}  // namespace ucxbench
