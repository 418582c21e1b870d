#include "harness/core/secret.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace ucxbench {
namespace {

using Words = std::vector<std::string>;

TEST(Secret, IsNamedByItsVariable) {
  for (const auto* name :
       {"NVIDIA_API_KEY", "GITHUB_TOKEN", "MYSQL_PASSWORD", "aws_secret_access_id", "KEY",
        "GOOGLE_APPLICATION_CREDENTIALS", "UCX_APIKEY", "SSH_KEYFILE", "DB_PASSWD", "ARKEY"}) {
    EXPECT_TRUE(names_secret(name)) << name;
  }
  for (const auto* name : {"UCX_TLS", "UCX_RC_MLX5_PKEY", "UCX_IB_MAX_IDLE_RKEY_COUNT", "PKEY",
                           "UCX_RKEY_PTR_SEG_SIZE", "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES"}) {
    EXPECT_FALSE(names_secret(name)) << name;
  }
}

TEST(Secret, IsNotInWhatIsRecordedOfAnEnvironment) {
  using Variables = std::map<std::string, std::string>;
  const Variables given = {
      {"NVIDIA_API_KEY", "x"}, {"UCX_TLS", "tcp"}, {"LD_PRELOAD", "http://me:x@host/a.so"}};
  EXPECT_EQ(without_secrets(given),
            (Variables{{"LD_PRELOAD", "http://***@host/a.so"}, {"UCX_TLS", "tcp"}}));
}

TEST(Secret, IsNotInWhatIsRecordedOfACommand) {
  EXPECT_EQ(
      without_secrets(Words{"p", "--token", "x", "--api-key=x", "--password", "x y", "--sizes=8"}),
      (Words{"p", "--token", "***", "--api-key=***", "--password", "***", "--sizes=8"}));
}

TEST(Secret, LeavesOtherWordsAlone) {
  const Words words = {"ucx-bench", "moe",          "--tokens",       "4096", "--token-file",
                       "/a/token",  "--tokens=8",   "--key-bytes=8",  "",     "--ucx",
                       "UCX_TLS=a", "--wrap=env A", "http://host/a@b"};
  EXPECT_EQ(without_secrets(words), words);
}

TEST(Secret, IsFoundWithinAWord) {
  EXPECT_EQ(
      without_secrets(Words{"--wrap", "env MY_TOKEN=x  A='https://me:x@h/p?q' gdb --token x"}),
      (Words{"--wrap", "env MY_TOKEN=***  A='https://***@h/p?q' gdb --token ***"}));
  EXPECT_EQ(without_secrets(Words{"--tag", "secret=x y", "--tag=my_key=x y", "https://x@host"}),
            (Words{"--tag", "secret=***", "--tag=my_key=***", "https://***@host"}));
  EXPECT_EQ(without_secrets(Words{"sh -c 'b --token \"x y z\" c'", "PASSWORD='x y' d"}),
            (Words{"sh -c 'b --token ***   c'", "PASSWORD=***"}));
}

}  // namespace
}  // namespace ucxbench
