#include "harness/result/media.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

Json path(const Json& carried_by, const char* medium = "", const char* proof = "path-class") {
  Json json = {{"carried_by", carried_by}};
  if (*medium != '\0') json.update({{"medium", medium}, {"medium_proof", proof}});
  return json;
}

Unmet unmet(const std::vector<std::string>& members, const Json& of, bool same_gpu = false) {
  return unmet_by(members, of, medium_in(of), same_gpu);
}

const Json all_by_ipc = {{"nvlink", 1.0}};

TEST(Carriers, AreNamedWithWhatTheyCrossed) {
  EXPECT_EQ(carriers_in_words(path({{"tcp", 1.0}})), "tcp");
  EXPECT_EQ(carriers_in_words(path(all_by_ipc)), "cuda_ipc") << "an older file";
  EXPECT_EQ(carriers_in_words(path(all_by_ipc, "nvlink")), "cuda_ipc over NVLink");
  EXPECT_EQ(carriers_in_words(path({{"nvlink", 0.6}, {"tcp", 0.4}}, "pcie")),
            "cuda_ipc over PCIe 60 %, tcp 40 %");
  EXPECT_EQ(carriers_in_words(path(all_by_ipc, "same-gpu")), "cuda_ipc inside one GPU");
  EXPECT_EQ(carriers_in_words(path(all_by_ipc, "unknown")), "cuda_ipc (medium unknown)");
  EXPECT_EQ(carriers_in_words(path(Json::object())), "");
  for (const auto& [medium, name, about] : medium_names) {
    EXPECT_EQ(carriers_in_words(path(all_by_ipc, std::string(name).c_str())).find("nvlink"),
              std::string::npos)
        << name << ": a member of a set is no medium";
  }
}

TEST(Carriers, AreNamedWithWhatTheCountersSaw) {
  auto denied = path(all_by_ipc, "unknown", "contradicted");
  const auto said = [&] { return carriers_in_words(denied); };
  EXPECT_EQ(said(), "cuda_ipc (medium unknown: NVLink's counters did not see all of the bytes)")
      << "an older file";
  denied["medium_counted"] = 0;
  EXPECT_EQ(said(), "cuda_ipc (medium unknown: NVLink's counters stood still)");
  for (const auto& [counted, words] : {std::pair(0.003, "0.30"), std::pair(0.06, "6.0"),
                                       std::pair(0.5, "50"), std::pair(0.9, "90")}) {
    denied["medium_counted"] = counted;
    EXPECT_EQ(said(), std::string("cuda_ipc (medium unknown: NVLink's counters saw ") + words +
                          " % of the bytes)");
  }
}

TEST(Unmet, TakesForNvlinkOnlyWhatCrossedNvlinks) {
  EXPECT_EQ(unmet({"nvlink"}, path(all_by_ipc, "nvlink")), Unmet::met);
  EXPECT_EQ(unmet({"nvlink"}, path(all_by_ipc, "mnnvl")), Unmet::met);
  EXPECT_EQ(unmet({"nvlink"}, path(all_by_ipc, "pcie")), Unmet::over_pcie);
  EXPECT_EQ(unmet({"nvlink"}, path(all_by_ipc, "unknown", "none")), Unmet::medium_unknown);
  EXPECT_EQ(unmet({"nvlink"}, path(all_by_ipc, "unknown", "contradicted")), Unmet::counters_deny);
  EXPECT_EQ(unmet({"nvlink"}, path(all_by_ipc)), Unmet::medium_unknown);
  EXPECT_EQ(unmet({"nvlink"}, path({{"nvlink", 0.9}, {"tcp", 0.1}}, "nvlink")), Unmet::too_little);
  EXPECT_EQ(unmet({"nvlink"}, path(Json::object())), Unmet::not_known);
  EXPECT_EQ(unmet({"tcp", "nvlink"}, path({{"nvlink", 0.9}, {"tcp", 0.1}}, "pcie")),
            Unmet::over_pcie);
  EXPECT_EQ(unmet({"auto"}, path(all_by_ipc, "pcie")), Unmet::met);
  EXPECT_EQ(unmet({"tcp"}, path({{"tcp", 1.0}})), Unmet::met);
}

TEST(Unmet, TakesACopyInsideOneGpuOnlyWhereThatIsAllowed) {
  const auto inside = path(all_by_ipc, "same-gpu", "one-gpu");
  EXPECT_EQ(unmet({"nvlink"}, inside), Unmet::inside_one_gpu);
  EXPECT_EQ(unmet({"nvlink"}, inside, true), Unmet::met);
  Json mixed = path(all_by_ipc);
  put_medium(seen_medium({Medium::nvlink, Medium::same_gpu}, MediumProof::path_class), mixed);
  EXPECT_EQ(unmet({"nvlink"}, mixed), Unmet::inside_one_gpu);
  EXPECT_EQ(unmet({"nvlink"}, mixed, true), Unmet::met);
  mixed["media"] = {"nvlink", "pcie"};
  EXPECT_EQ(unmet({"nvlink"}, mixed, true), Unmet::over_pcie);
}

TEST(Unmet, TakesNoInfinibandByElimination) {
  auto by_ib = path({{"ib", 1.0}});
  EXPECT_EQ(unmet({"ib"}, by_ib), Unmet::met);
  by_ib["eliminated"] = "ib";
  EXPECT_EQ(unmet({"ib"}, by_ib), Unmet::eliminated);
  auto by_shm = path({{"shm", 1.0}});
  by_shm["eliminated"] = "shm";
  EXPECT_EQ(unmet({"shm"}, by_shm), Unmet::met) << "no device counts what shm carries";
}

TEST(Medium, IsReadAsItWasWritten) {
  for (const auto& seen : {seen_medium({Medium::nvlink}, MediumProof::counters),
                           seen_medium({Medium::pcie, Medium::nvlink}, MediumProof::path_class),
                           SeenMedium{.proof = MediumProof::contradicted, .counted = 0.25}}) {
    Json json;
    put_medium(seen, json);
    EXPECT_EQ(medium_in(json), seen);
  }
  EXPECT_FALSE(medium_in(Json::object()));
}

}  // namespace
}  // namespace ucxbench
