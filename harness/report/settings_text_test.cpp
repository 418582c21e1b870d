#include "harness/report/settings_text.hpp"

#include <gtest/gtest.h>

#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

const UcxSettings two_settings = {{"UCX_RNDV_FRAG_SIZE", "host:128k"}, {"UCX_RNDV_THRESH", "64k"}};

TEST(SettingsFile, IsReadByAShellByDaskAndByUcx) {
  const std::vector<std::string> why = {"as measured\nhere"};
  EXPECT_EQ(settings_file(settings_format_of("a.env"), two_settings, why),
            "# as measured here\nexport UCX_RNDV_FRAG_SIZE='host:128k'\n"
            "export UCX_RNDV_THRESH='64k'\n");
  EXPECT_EQ(settings_file(settings_format_of("a.yaml"), two_settings, why),
            "# as measured here\ndistributed-ucxx:\n  environment:\n"
            "    rndv-frag-size: \"host:128k\"\n    rndv-thresh: \"64k\"\n");
  EXPECT_EQ(settings_file(settings_format_of("ucx.conf"), two_settings, {}),
            "UCX_RNDV_FRAG_SIZE=host:128k\nUCX_RNDV_THRESH=64k\n");
  EXPECT_THROW(settings_format_of("tuned.txt"), Failure);
}

}  // namespace
}  // namespace ucxbench
