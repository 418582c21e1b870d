#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "bench/pingpong/parameters.hpp"
#include "harness/comm/ucx_message.hpp"
#include "harness/core/refusal_for_test.hpp"
#include "harness/run/benchmark.hpp"

namespace ucxbench::pingpong {
namespace {

const Description& description() { return find_benchmark("pingpong")->parameters; }

std::vector<AskedCase> cases_of(Asked asked, const std::map<std::string, std::string>& axes) {
  for (const auto& [name, text] : axes) {
    asked.axes[name] = values_of(*description().find(name), text);
  }
  Place place;
  place.transports = {"shm"};
  return cases_at("pingpong", description(), asked, place, local(2, 2));
}

std::vector<std::string> keys(const std::map<std::string, std::string>& axes) {
  std::vector<std::string> all;
  for (const auto& asked_case : cases_of(nothing_asked(description()), axes))
    all.push_back(asked_case.key);
  return all;
}

TEST(MessageAxes, AreCasesAndTheUsualOnesKeepTheirKeys) {
  using Keys = std::vector<std::string>;
  EXPECT_EQ(keys({{"buffer", "contiguous,iov:4"}, {"sizes", "8"}}),
            (Keys{"pingpong/tag/host-host/shm/8B", "pingpong/tag/host-host/shm/8B/buffer=iov:4"}));
  EXPECT_EQ(keys({{"api", "am"}, {"header", "0,64"}, {"sizes", "8"}}),
            (Keys{"pingpong/am/host-host/shm/8B", "pingpong/am/host-host/shm/8B/header=64"}));
  EXPECT_EQ(keys({{"error-mode", "peer"},
                  {"register", "user"},
                  {"receives", "unexpected"},
                  {"sizes", "8"}}),
            (Keys{"pingpong/tag/host-host/shm/8B/error-mode=peer/receives=unexpected/"
                  "register=user"}));
}

TEST(MessageAxes, AreToldInATitleUnlessTheyAreTheUsualOnes) {
  EXPECT_EQ(message_axes_told({{"bytes", 8}}), "");
  EXPECT_EQ(message_axes_told(
                {{"buffer", "contiguous"}, {"error_mode", "none"}, {"header_bytes", nullptr}}),
            "");
  EXPECT_EQ(message_axes_told({{"buffer", "iov:4"}, {"error_mode", "peer"}, {"header_bytes", 64}}),
            ", error mode peer, buffer iov:4, header bytes 64");
}

TEST(MessageAxes, OfAListEachPartHasAByte) {
  EXPECT_EQ(keys({{"buffer", "contiguous,iov:16"}, {"sizes", "8,16"}}).size(), 3U);
  EXPECT_EQ(refusal_by([] { keys({{"buffer", "iov:16"}, {"sizes", "8"}}); }),
            "--buffer iov:16: each part has a byte or more; give --sizes of 16 B or more");
  for (const auto* wrong : {"iov", "iov:", "iov:0", "iov:1025", "iov:4x", "vector"}) {
    EXPECT_THROW(parse_layout(wrong), Failure) << wrong;
  }
  EXPECT_EQ(to_string(parse_layout("iov:4")), "iov:4");
}

TEST(MessageAxes, ThatHaveNoMeaningAreRefused) {
  const auto why = [](const std::map<std::string, std::string>& axes) {
    return refusal_by([&] { keys(axes); });
  };
  const std::string iov = "iov:2";
  EXPECT_EQ(why({{"buffer", iov}, {"api", "put"}}),
            "--buffer iov:2: --api put takes contiguous memory; use tag, stream or am");
  EXPECT_EQ(why({{"buffer", iov}, {"buffers", "cold"}}),
            "--buffer iov:2: one list serves all messages; use --buffers warm");
  EXPECT_EQ(why({{"register", "user"}, {"api", "stream"}}),
            "--register user: --api stream gives UCX no memory handle; use tag, am, put or get");
  EXPECT_EQ(why({{"register", "user"}, {"buffer", iov}}),
            "--register user: one memory handle is of contiguous memory; use --buffer contiguous");
  EXPECT_EQ(why({{"receives", "unexpected"}, {"api", "am"}}),
            "--receives unexpected: --api am matches no receives with messages; use --api tag");
  EXPECT_EQ(why({{"receives", "unexpected"}, {"progress-mode", "thread"}}),
            "--receives unexpected: nothing wakes the waiting thread; use --progress-mode poll, "
            "event or periodic");
  EXPECT_EQ(why({{"header", "8"}}), "--header 8: --api tag has no header; use --api am");
}

// What a receiver scatters is what a sender gathered, whatever the length.
TEST(Message, HasPartsThatDifferByAByteAtMost) {
  std::vector<std::byte> buffer(1001);
  for (const std::size_t bytes : {4U, 7U, 1001U}) {
    UcxMessage message;
    message.use(buffer.data(), bytes, 4);
    ASSERT_EQ(message.count(), 4U);
    ucp_request_param_t params{};
    message.describe(params, nullptr);
    EXPECT_EQ(params.datatype, ucp_dt_make_iov());
    std::set<std::size_t> lengths;
    const auto* next = buffer.data();
    for (const auto& part : message.parts()) {
      EXPECT_EQ(part.buffer, next);
      lengths.insert(part.length);
      next += part.length;
    }
    EXPECT_EQ(next, buffer.data() + bytes);
    EXPECT_LE(*lengths.rbegin() - *lengths.begin(), 1U);
    message.use(buffer.data(), bytes, 0);
    EXPECT_TRUE(message.data() == buffer.data() && message.count() == bytes);
  }
}

}  // namespace
}  // namespace ucxbench::pingpong
