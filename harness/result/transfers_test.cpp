#include "harness/result/transfers.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

class Transfers : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(file_); }
  std::filesystem::path file_ = std::filesystem::path(testing::TempDir()) /
                                ("transfers-" + std::to_string(getpid()) + ".bin");
};

TEST_F(Transfers, AreReadAsTheyWereWritten) {
  std::vector<Transfer> records(3);
  records[1] = {.posted_ns = 5,
                .completed_ns = 9,
                .bytes = 100,
                .label = 77,
                .rank = 1,
                .peer = 2,
                .in_flight = 3,
                .kind = Transfer::receive,
                .iteration = 4};
  append_transfers(file_, section_bytes({.case_index = 1, .launch = 2, .rank = 1}, records));
  append_transfers(file_, section_bytes({.case_index = 2}, {}));
  const auto all = read_transfers(file_);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].section.case_index, 1U);
  EXPECT_EQ(all[0].section.launch, 2U);
  ASSERT_EQ(all[0].records.size(), 3U);
  EXPECT_EQ(all[0].records[1].completed_ns, 9U);
  EXPECT_EQ(all[0].records[1].label, 77U);
  EXPECT_EQ(all[0].records[1].kind, Transfer::receive);
  EXPECT_EQ(all[0].records[1].iteration, 4U);
  EXPECT_TRUE(all[1].records.empty());
}

TEST_F(Transfers, ThatAreNoneAreRefused) {
  EXPECT_THROW(read_transfers(file_), Failure);
  std::ofstream(file_) << "something else";
  EXPECT_THROW(read_transfers(file_), Failure);
  std::filesystem::remove(file_);
  append_transfers(file_, section_bytes({}, std::vector<Transfer>(2)));
  for (const auto cut : {10, 30, 100}) {
    std::filesystem::resize_file(file_, static_cast<std::uintmax_t>(cut));
    EXPECT_THROW(read_transfers(file_), Failure) << cut;
    std::filesystem::remove(file_);
    append_transfers(file_, section_bytes({}, std::vector<Transfer>(2)));
  }
}

TEST(TransfersFile, LiesBesideItsRun) {
  EXPECT_EQ(transfers_file("runs/a.json"), "runs/a.transfers.bin");
}

}  // namespace
}  // namespace ucxbench
