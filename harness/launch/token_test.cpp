#include "harness/launch/token.hpp"

#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <future>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/core/failure.hpp"
#include "harness/core/fd.hpp"

namespace ucxbench {
namespace {

class Token : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = testing::TempDir() + "/token_XXXXXX";
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    ::setenv("XDG_CONFIG_HOME", folder.c_str(), 1);
    ::unsetenv("UCXBENCH_TOKEN");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

TEST_F(Token, IsMadeOnceByTheListenerForTheUserAlone) {
  EXPECT_THROW(load_token({}), Failure);
  const auto token = load_or_create_token({});
  EXPECT_EQ(token.size(), 64U);
  EXPECT_EQ(load_token({}), token);
  EXPECT_EQ(load_or_create_token({}), token);
  struct stat info{};
  ASSERT_EQ(::stat((folder_ / "ucx-bench/token").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600U);
}

// Another process may read it as soon as it has its name.
TEST_F(Token, IsWholeWhenItGetsItsName) {
  const Fd events(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  ASSERT_GE(::inotify_add_watch(events.get(), folder_.c_str(), IN_CREATE | IN_MODIFY), 0);
  load_or_create_token(folder_ / "token");
  std::array<char, 4096> buffer{};
  const auto size = ::read(events.get(), buffer.data(), buffer.size());
  std::map<std::string, std::uint32_t> seen;
  for (ssize_t at = 0; at < size;) {
    inotify_event event{};
    std::memcpy(&event, buffer.data() + at, sizeof event);
    seen[buffer.data() + at + sizeof event] |= event.mask;
    at += static_cast<ssize_t>(sizeof event + event.len);
  }
  EXPECT_EQ(seen["token"], std::uint32_t{IN_CREATE});
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(Token, IsOneForListenersThatStartTogether) {
  std::vector<std::future<std::string>> listeners;
  for (int i = 0; i < 8; ++i) {
    listeners.push_back(
        std::async(std::launch::async, [this] { return load_or_create_token(folder_ / "token"); }));
  }
  std::set<std::string> tokens;
  for (auto& listener : listeners) tokens.insert(listener.get());
  EXPECT_EQ(tokens.size(), 1U);
}

TEST_F(Token, FileWinsOverVariableOverDefault) {
  const auto own = load_or_create_token({});
  ::setenv("UCXBENCH_TOKEN", "from-the-variable", 1);
  EXPECT_EQ(load_token({}), "from-the-variable");
  const auto file = folder_ / "mine";
  const auto mine = load_or_create_token(file);
  EXPECT_EQ(load_token(file), mine);
  EXPECT_NE(mine, own);
  ::unsetenv("UCXBENCH_TOKEN");
}

TEST_F(Token, RefusesOpenShortAndStrangeFiles) {
  const auto file = folder_ / "file";
  std::ofstream(file) << "long-enough-for-a-token\n";
  ::chmod(file.c_str(), 0640);
  EXPECT_THROW(load_token(file), Failure);
  ::chmod(file.c_str(), 0600);
  EXPECT_EQ(load_token(file), "long-enough-for-a-token");
  std::ofstream(file) << "short\n";
  EXPECT_THROW(load_token(file), Failure);
  EXPECT_THROW(load_or_create_token(folder_), Failure);
  EXPECT_THROW(load_or_create_token("/proc/none/token"), Failure);
}

}  // namespace
}  // namespace ucxbench
