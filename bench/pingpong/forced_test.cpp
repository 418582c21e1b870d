#include "bench/pingpong/forced.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

namespace ucxbench::pingpong {
namespace {

CaseRange sized(std::uint64_t bytes, std::uint64_t from, const char* protocol) {
  CaseRange of{.of = {.index = 0, .parameters = {}},
               .range = ProtocolRange{
                   .operation = "tag_send", .from = from, .protocol = protocol, .device = ""}};
  of.of.parameters.bytes = bytes;
  return of;
}

using Forced = std::vector<std::tuple<std::size_t, std::string, std::string>>;
Forced forced(const std::vector<CaseRange>& cases) {
  Forced all;
  for (const auto& [at, name, value] : cases_to_force(cases)) all.emplace_back(at, name, value);
  return all;
}

TEST(CasesToForce, AreBothSidesOfAThreshold) {
  // Sizes in any order; the words of the new engine, and those of the old one.
  EXPECT_EQ(forced({sized(65536, 5029, "rendezvous zero-copy read from remote"),
                    sized(64, 0, "eager short"), sized(1024, 93, "eager copy-in copy-out"),
                    sized(262144, 5029, "rendezvous zero-copy read from remote")}),
            (Forced{{2, "RNDV_THRESH", "1024"}, {0, "RNDV_THRESH", "inf"}}));
  EXPECT_EQ(forced({sized(8192, 8185, "egr/zcopy"), sized(32768, 20553, "rndv")}),
            (Forced{{0, "RNDV_THRESH", "8192"}, {1, "RNDV_THRESH", "inf"}}));
  EXPECT_EQ(forced({sized(1024, 93, "eager copy-in"), sized(8192, 4000, "eager zero-copy")}),
            (Forced{{0, "ZCOPY_THRESH", "1024"}, {1, "ZCOPY_THRESH", "inf"}}));
}

TEST(CasesToForce, AreNoneWhereNoSettingMovesTheThreshold) {
  EXPECT_EQ(forced({sized(64, 0, "eager short"), sized(1024, 93, "eager copy-in copy-out")}),
            Forced());
  EXPECT_EQ(forced({sized(8192, 1, "eager zero-copy copy-out"),
                    sized(32768, 16484, "multi-frag eager copy-in copy-out")}),
            Forced());
  // Ranges that are not known, another progress mode, one size alone.
  auto unknown = sized(8192, 8185, "egr/zcopy");
  unknown.range.reset();
  EXPECT_EQ(forced({unknown, sized(32768, 20553, "rndv")}), Forced());
  auto cold = sized(8192, 8185, "egr/zcopy");
  cold.of.parameters.buffers = Buffers::cold;
  EXPECT_EQ(forced({cold, sized(32768, 20553, "rndv")}), Forced());
}

}  // namespace
}  // namespace ucxbench::pingpong
