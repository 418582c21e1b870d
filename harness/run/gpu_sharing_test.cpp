#include "harness/run/gpu_sharing.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

using Others = GpusOfRanks::Others;

const std::vector<std::string> no_lanes;

Json gpu(const char* machine, const Json& uuid, const char* pci, const Json& mps = false) {
  return {{"machine", machine}, {"uuid", uuid}, {"pci", pci}, {"mps", mps}, {"emulated", false}};
}

TEST(SameGpu, IsToldByUuidElseByPciAddressAndMachine) {
  const auto one = gpu("boot1", "aaaa", "0000:01:00.0");
  EXPECT_TRUE(is_same_gpu(one, one));
  EXPECT_FALSE(is_same_gpu(one, gpu("boot2", "bbbb", "0000:01:00.0"))) << "identical servers";
  EXPECT_FALSE(is_same_gpu(one, gpu("boot2", "aaaa", "0000:01:00.0"))) << "no GPU is in two";
  EXPECT_FALSE(is_same_gpu(one, gpu("boot1", "bbbb", "0000:01:00.0"))) << "instances of MIG";
  const auto unknown = gpu("boot1", nullptr, "0000:01:00.0");
  EXPECT_TRUE(is_same_gpu(unknown, unknown));
  EXPECT_FALSE(is_same_gpu(unknown, gpu("boot2", nullptr, "0000:01:00.0")));
  EXPECT_FALSE(is_same_gpu(unknown, gpu("boot1", nullptr, "0000:02:00.0")));
  EXPECT_FALSE(is_same_gpu(nullptr, nullptr));
}

TEST(GpuLabels, SayWhoSharesAGpuAndWhoTakesTurns) {
  const auto labels = [](const Json& first, const Json& second) {
    return GpusOfRanks({first, second}).labels(0, 1, no_lanes, Others::wait);
  };
  const auto one = gpu("boot1", "aaaa", "0000:01:00.0");
  EXPECT_EQ(labels(one, gpu("boot2", "bbbb", "0000:01:00.0")), Json::array());
  EXPECT_EQ(labels(one, one), Json({"same-gpu", "time-sliced"}));
  const auto with_mps = [](const Json& mps) { return gpu("boot1", "aaaa", "0000:01:00.0", mps); };
  EXPECT_EQ(labels(with_mps(true), with_mps(true)), Json({"same-gpu"}));
  EXPECT_EQ(labels(with_mps(true), with_mps(false)), Json({"same-gpu", "time-sliced"}));
  EXPECT_EQ(labels(with_mps(nullptr), with_mps(nullptr)), Json({"same-gpu", "time-sliced"}))
      << "nobody knows";
}

TEST(GpuLabels, OfAPairDependOnWhatTheOthersDo) {
  const auto one = gpu("boot1", "aaaa", "0000:01:00.0");
  const auto two = gpu("boot1", "bbbb", "0000:02:00.0");
  const GpusOfRanks gpus({one, two, one, two});
  EXPECT_EQ(gpus.labels(0, 1, no_lanes, Others::wait), Json::array());
  EXPECT_EQ(gpus.labels(0, 1, no_lanes, Others::work), Json({"time-sliced"}));
  EXPECT_EQ(gpus.labels(0, 2, no_lanes, Others::wait), Json({"same-gpu", "time-sliced"}));
  EXPECT_EQ(gpus.labels(no_lanes), Json({"same-gpu", "time-sliced"}));
  EXPECT_EQ(gpus.labels(0, 0, no_lanes, Others::wait), Json::array()) << "a rank with itself";
}

TEST(GpuLabels, AreThoseOfTheLanesWithoutGpus) {
  const GpusOfRanks none(std::vector<Json>{});
  EXPECT_EQ(none.labels(no_lanes), Json::array());
  EXPECT_EQ(none.labels(0, 1, {"rc_verbs/rxe0:1"}, Others::work), Json({"soft-roce"}));
}

TEST(GpuHere, SaysNothingOfWhatIsNotThere) {
  EXPECT_TRUE(gpu_here(std::nullopt).is_null());
  const auto here = gpu_here(CudaDevice{.name = "Emulated GPU", .pci = "e000:01:00.0"});
  EXPECT_TRUE(here.at("uuid").is_null() && here.at("mps").is_null());
  EXPECT_FALSE(here.at("machine").get<std::string>().empty());
  EXPECT_EQ(here.at("emulated"), true);
}

}  // namespace
}  // namespace ucxbench
