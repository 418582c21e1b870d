#include "harness/run/loaded_libraries.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

TEST(LoadedLibraries, HaveFileAndBuild) {
  const auto libraries = loaded_libraries_json();
  ASSERT_TRUE(libraries.contains("libc.so.6")) << libraries;
  const auto text = libraries.at("libc.so.6").get<std::string>();
  EXPECT_TRUE(text.starts_with('/')) << text;
  EXPECT_NE(text.find("libc.so.6 (build "), std::string::npos) << text;
  EXPECT_EQ(in_words(loaded_libraries().at("libc.so.6")), text);
}

}  // namespace
}  // namespace ucxbench
