#include "bench/cli/plan/expect_file.hpp"

#include "bench/cli/options/toml_fixture.hpp"

namespace ucxbench {
namespace {

using ExpectFile = ReadsToml<read_site>;

TEST_F(ExpectFile, HasLimits) {
  const auto site = read(
      "ranks = 8\n"
      "[[expect]]\n"
      "transports = \"shm\"\n"
      "max_us = 2\n"
      "[[expect]]\n"
      "transports = \"tcp,nvlink\"\n"
      "memory = \"cuda\"\n"
      "class = \"NV2\"\n"
      "min_GBps = 30.5\n"
      "path = \"nvlink\"\n");
  EXPECT_EQ(site.ranks, 8);
  ASSERT_EQ(site.expectations.size(), 2U);
  const auto& [shm, nvlink] = std::tie(site.expectations[0], site.expectations[1]);
  EXPECT_EQ(shm.place, file_ + ":2");
  EXPECT_EQ(shm.memory, "host");
  EXPECT_EQ(shm.max_us, 2);
  EXPECT_FALSE(shm.min_GBps);
  EXPECT_TRUE(shm.carriers.empty());
  EXPECT_EQ(nvlink.path_class, "NV2");
  EXPECT_EQ(nvlink.min_GBps, 30.5);
  EXPECT_EQ(nvlink.carriers, std::vector<std::string>{"nvlink"});
  // Written and read, it is the same.
  const auto again = read(site_text(site, "# begun\n"));
  EXPECT_EQ(site_text(again, "# begun\n"), site_text(site, "# begun\n"));
  EXPECT_EQ(again.expectations[1].path_class, "NV2");
  EXPECT_EQ(again.expectations[1].min_GBps, 30.5);
  EXPECT_EQ(read("[[expect]]\ntransports = \"tcp\"\nmax_us = 40\n").ranks, 2);
}

TEST_F(ExpectFile, HasClassesOfNodes) {
  const std::string nodes =
      "[[node]]\nname = \"big\"\ncpu = \"A \\\"B\\\"\"\ngpus = [\"8 x G\"]\nnics = []\n"
      "[[node]]\nname = \"small\"\ncpu = \"A\"\n";
  const auto limit = [](const std::string& node) {
    return "[[expect]]\nnode = \"" + node + "\"\ntransports = \"tcp\"\nmax_us = 40\n";
  };
  const auto site = read(nodes + limit("small") + "[[expect]]\ntransports = \"shm\"\nmax_us = 4\n");
  ASSERT_EQ(site.nodes.size(), 2U);
  EXPECT_EQ(site.expectations[0].node, "small");
  EXPECT_EQ(site.expectations[1].node, "");
  const auto host = [](const char* cpu, const Json& gpus) {
    return class_of_host({{"cpu_model", cpu}, {"gpus", gpus}, {"nics", Json::array()}});
  };
  const auto* big = find_class(site, host("A \"B\"", Json(std::vector<std::string>(8, "G"))));
  ASSERT_NE(big, nullptr);
  EXPECT_EQ(big->name, "big");
  EXPECT_EQ(find_class(site, host("A \"B\"", Json(std::vector<std::string>(7, "G")))), nullptr);
  EXPECT_EQ(find_class(site, host("A", Json::array()))->name, "small");
  EXPECT_EQ(in_words(host("A", Json::array())), "CPU A, no GPUs, no NICs");
  // Written and read, it is the same; and another file may follow.
  EXPECT_EQ(site_text(read(site_text(site, "")), ""), site_text(site, ""));
  const auto more = read("ranks = 3\n" + more_site_text(site, "# begun\n"));
  EXPECT_EQ(more.nodes.size(), 2U);
  EXPECT_EQ(more.ranks, 3);

  EXPECT_EQ(refusal(nodes + limit("middle")), ":9: no [[node]] has the name 'middle'");
  EXPECT_EQ(refusal(nodes + nodes + limit("big")),
            ":9: node 'big' has the name of another one, or all that 'big' has");
  EXPECT_EQ(refusal("[[node]]\ncpu = \"A\"\n" + limit("a")),
            ":1: expected name = \"…\", by which [[expect]] calls it");
  EXPECT_EQ(refusal("[[node]]\nname = \"a\"\ngpus = \"8\"\n" + limit("a")),
            ":1: gpus: expected [\"8 x MODEL\", …]");
  EXPECT_TRUE(
      refusal("[[node]]\nname = \"a\"\nmodel = 1\n" + limit("a")).starts_with(":3: unknown key"));
}

TEST_F(ExpectFile, SaysWhereItIsWrong) {
  const std::string good = "[[expect]]\ntransports = \"tcp\"\nmax_us = 40\n";
  const auto with = [&](const std::string& line) { return refusal(good + line + "\n"); };
  EXPECT_TRUE(refusal("ranks = \n" + good).starts_with(":1: not TOML: "));
  EXPECT_EQ(refusal("rank = 2\n" + good),
            ":1: unknown key 'rank': did you mean 'ranks'? known: ranks, node, expect");
  for (const auto* wrong : {"ranks = 1\n", "ranks = \"2\"\n", "ranks = 1025\n"}) {
    EXPECT_EQ(refusal(wrong + good), ":1: ranks: expected a number, 2 to 1024");
  }
  EXPECT_EQ(refusal("ranks = 2\n"), ": no [[expect]]: there is nothing to check");
  EXPECT_EQ(refusal("[expect]\nmax_us = 1\n"), ":1: expected [[expect]], in two pairs of brackets");
  EXPECT_EQ(refusal("expect = [3]\n"), ":1: expected [[expect]] with transports = \"…\" below");
  EXPECT_EQ(refusal("[[expect]]\nmax_us = 1\n"),
            ":1: expected transports = \"SET\", as transports = \"tcp,shm\"");
  EXPECT_EQ(refusal("[[expect]]\ntransports = \"tcp\"\n"),
            ":1: nothing is expected: give min_GBps, max_us or path");
  EXPECT_TRUE(refusal("[[expect]]\ntransports = \"tpc\"\nmax_us = 1\n")
                  .starts_with(":2: --transports: unknown transport 'tpc': did you mean 'tcp'"));
  EXPECT_EQ(refusal("[[expect]]\ntransports = 3\nmax_us = 1\n"),
            ":2: transports: expected text in quotes, as \"tcp,shm\"");
  EXPECT_TRUE(with("min_GBs = 1").starts_with(":4: unknown key 'min_GBs': did you mean"));
  for (const auto* wrong : {"0", "-1", "inf", "nan", "\"3 GB/s\"", "true"}) {
    EXPECT_EQ(with(std::string("min_GBps = ") + wrong),
              ":4: min_GBps: expected a number above 0, without a unit");
  }
  EXPECT_TRUE(with("memory = \"gpu\"").starts_with(":4: --memory: unknown memory kind 'gpu'"))
      << with("memory = \"gpu\"");
  EXPECT_TRUE(
      with("path = \"nvlnik\"").starts_with(":4: --transports: unknown transport 'nvlnik'"));
  for (const std::string anything : {"auto", "shm,tcp,nvlink,ib"}) {
    EXPECT_EQ(
        with("path = \"" + anything + "\""),
        ":4: path: '" + anything +
            "' is whatever carries a message, so nothing can miss it: name what must carry it");
  }
  EXPECT_EQ(with("class = \"NV2\""),
            ":4: class: only pairs of GPUs have one: add memory = \"cuda\"");
  EXPECT_TRUE(
      with("memory = \"cuda\"\nclass = \"NV\"").starts_with(":5: class: unknown class 'NV'"));
}

}  // namespace
}  // namespace ucxbench
