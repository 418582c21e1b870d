#include "harness/core/cbor.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/core/read_json.hpp"

namespace ucxbench {
namespace {

using nlohmann::json;

std::optional<json> read(const std::string& bytes) {
  return from_cbor({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

TEST(Cbor, IsReadAsItWasWritten) {
  const json value = {{"type", "put"},
                      {"none", nullptr},
                      {"value", json::binary({0, 255, 10})},
                      {"long", std::string(300, 'x')},
                      {"numbers", {0, -1, 23, 24, 1e300, 0.5, UINT64_MAX, INT64_MIN, true}},
                      {"empty", {json::array(), json::object(), "", json::binary({})}},
                      {"nested", {{{"a", {1, {2, {3}}}}, {"b", json::object()}}}}};
  EXPECT_EQ(from_cbor(json::to_cbor(value)), value);
  EXPECT_EQ(read("\x9f\x01\x9f\xff\xbf\x61x\x02\xff\xff"), json({1, json::array(), {{"x", 2}}}));
}

TEST(Cbor, IsRefusedWhereLengthsCannotBe) {
  const auto whole = json::to_cbor(json{{"numbers", {1, 2.5, "x"}}, {"b", json::binary({7})}});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(from_cbor({whole.data(), size})) << size;
  }
  const std::string largest(8, '\xff');
  for (const char kind : {'\x5b', '\x7b', '\x9b', '\xbb'}) EXPECT_FALSE(read(kind + largest));
  EXPECT_FALSE(read("\x01\x01"));       // and more
  EXPECT_FALSE(read("\xff"));           // nothing to end
  EXPECT_FALSE(read("\x81\xff"));       // one element, which is none
  EXPECT_FALSE(read("\x1c"));           // no such length
  EXPECT_FALSE(read("\xa1\x01\x01"));   // a key that is no text
  EXPECT_FALSE(read("\xc1\x01"));       // a tag
  EXPECT_FALSE(read("\xbf\x61x\xff"));  // a key without a value
  EXPECT_FALSE(read("\x7f\x01\xff"));   // text made of a number
}

TEST(Cbor, IsRefusedWhereAKeyStandsTwice) {
  const std::string twice = "\xa2\x61x\x01\x61x\x02";
  EXPECT_FALSE(read(twice));
  EXPECT_FALSE(read("\x81" + twice));
  EXPECT_FALSE(json_from_cbor({reinterpret_cast<const std::uint8_t*>(twice.data()), twice.size()}));
}

TEST(Cbor, IsRefusedWhereItIsTooDeep) {
  const auto nested = [](std::size_t levels) { return std::string(levels - 1, '\x81') + '\x80'; };
  EXPECT_TRUE(read(nested(most_json_levels)));
  EXPECT_FALSE(read(nested(most_json_levels + 1)));
  EXPECT_FALSE(read(nested(10'000'000)));
  EXPECT_FALSE(read(std::string(10'000'000, '\x9f')));
  EXPECT_FALSE(read(std::string(10'000'000, '\x5f')));
}

}  // namespace
}  // namespace ucxbench
