#include "harness/launch/leftovers.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <string>
#include <vector>

#include "harness/core/fd.hpp"
#include "harness/launch/test_processes.hpp"

namespace ucxbench {
namespace {

using Names = std::vector<std::string>;
using Ids = std::vector<int>;

/// Another process, that did something and then lives until it is ended.
class Other {
 public:
  explicit Other(const std::function<void()>& act) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    const Fd reader(ends[0]);
    Fd writer(ends[1]);
    pid_ = ::fork();
    if (pid_ == 0) {
      act();
      [[maybe_unused]] const ssize_t written = ::write(writer.get(), "x", 1);
      ::alarm(60);
      for (;;) ::pause();
    }
    writer.reset();
    char c = 0;
    if (::read(reader.get(), &c, 1) != 1) throw std::runtime_error("no other process");
  }
  ~Other() { end(); }
  Other(const Other&) = delete;
  Other& operator=(const Other&) = delete;

  pid_t pid() const { return pid_; }
  void end() {
    if (ended_) return;
    ended_ = true;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_ = -1;
  bool ended_ = false;
};

int make(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0 || ::ftruncate(fd, 4096) != 0) ::_exit(1);
  return fd;
}

void map(const std::string& path) {
  const Fd file(make(path));
  if (::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file.get(), 0) == MAP_FAILED) ::_exit(1);
}

int make_segment() { return ::shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600); }

void make_attached_segment() { ::shmat(make_segment(), nullptr, 0); }

class Leftovers : public testing::Test {
 protected:
  ~Leftovers() override { remove_segments_of(made_segments_); }

  std::string file(const std::string& name) const { return folder_.path() + "/" + name; }
  Traces traces(const std::vector<pid_t>& creators, std::time_t later = 0) const {
    return {creators, {folder_.path()}, start_ + later};
  }
  /// Has them removed if the test fails.
  void made_segments(const Other& other) { made_segments_.push_back(other.pid()); }

  SharedMemoryFolder folder_;
  std::time_t start_ = std::time(nullptr);
  std::vector<pid_t> made_segments_{::getpid()};
};

TEST_F(Leftovers, OfTheDeadAreRemoved) {
  Other dead([&] {
    make(file("ucx_shm_posix_1"));
    map(file("ucx_shm_posix_2"));
    make_segment();
    make_attached_segment();
  });
  made_segments(dead);
  dead.end();
  // An attached one without a mark stays, too, when its process dies.
  EXPECT_EQ(segments_of({dead.pid()}).size(), 2U);
  remove_leftovers(traces({dead.pid()}));
  EXPECT_EQ(folder_.files(), Names{});
  EXPECT_EQ(segments_of({dead.pid()}), Ids{});
}

TEST_F(Leftovers, FilesThatAreUsedStay) {
  const Other opens([&] { make(file("ucx_shm_posix_open")); });
  remove_leftovers(traces({}));
  EXPECT_EQ(folder_.files(), Names{"ucx_shm_posix_open"});
}

TEST_F(Leftovers, FilesThatAreMappedStay) {
  const Other maps([&] { map(file("ucx_shm_posix_mapped")); });
  remove_leftovers(traces({}));
  EXPECT_EQ(folder_.files(), Names{"ucx_shm_posix_mapped"});
}

TEST_F(Leftovers, FilesOfOthersStay) {
  ::close(make(file("someone's")));
  ::mkdir(file("ucx_shm_posix_folder").c_str(), 0700);
  remove_leftovers(traces({}));
  EXPECT_EQ(folder_.files().size(), 2U);
}

TEST_F(Leftovers, WhatIsOlderStays) {
  Other dead([&] {
    make(file("ucx_shm_posix_1"));
    make_segment();
  });
  made_segments(dead);
  dead.end();
  remove_leftovers(traces({dead.pid()}, 3600));
  EXPECT_EQ(folder_.files().size(), 1U);
  EXPECT_EQ(segments_of({dead.pid()}).size(), 1U);
}

TEST_F(Leftovers, SegmentsOfOthersStay) {
  const Other lives(make_segment);
  const Other attached(make_attached_segment);
  made_segments(lives);
  made_segments(attached);
  remove_leftovers(traces({attached.pid()}));
  EXPECT_EQ(segments_of({lives.pid()}).size(), 1U);
  EXPECT_EQ(segments_of({attached.pid()}).size(), 1U);
}

TEST_F(Leftovers, WaitsForTheDying) {
  Other dying([&] {
    make(file("ucx_shm_posix_1"));
    make_attached_segment();
  });
  made_segments(dying);
  ::kill(dying.pid(), SIGKILL);  // not waited for
  remove_leftovers(traces({dying.pid()}));
  EXPECT_EQ(folder_.files(), Names{});
  EXPECT_EQ(segments_of({dying.pid()}), Ids{});
}

TEST_F(Leftovers, OfThisProcessAreRemovedAndNoOther) {
  const Other other([&] {
    make(file("ucx_shm_posix_other"));
    make_segment();
  });
  made_segments(other);
  const Fd open(make(file("ucx_shm_posix_open")));
  map(file("ucx_shm_posix_mapped"));
  const Fd nameless(make(file("ucx_shm_posix_nameless")));
  ::unlink(file("ucx_shm_posix_nameless").c_str());
  make_segment();
  remove_own_leftovers(start_);
  EXPECT_EQ(folder_.files(), Names{"ucx_shm_posix_other"});
  EXPECT_EQ(segments_of({::getpid()}), Ids{});
  EXPECT_EQ(segments_of({other.pid()}).size(), 1U);
}

TEST(Connections, EndByAResetOnceThatIsAsked) {
  const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof place;
  auto* const address = reinterpret_cast<sockaddr*>(&place);
  ASSERT_EQ(::bind(listener.get(), address, size), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  ASSERT_EQ(::getsockname(listener.get(), address, &size), 0);
  Fd near_end(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::connect(near_end.get(), address, size), 0);
  const Fd far_end(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  reset_connections();
  near_end.reset();
  char byte = 0;
  EXPECT_EQ(::read(far_end.get(), &byte, 1), -1);  // 0 after an orderly end
  EXPECT_EQ(errno, ECONNRESET);
}

TEST_F(Leftovers, NoneOfAThreadThatIsStillMakingThem) {
  for (int microseconds = 1000; microseconds < 3000; microseconds += 100) {
    TestProcess process({"churn", std::to_string(microseconds)});
    EXPECT_EQ(process.line(), "");  // it has ended
    EXPECT_TRUE(all_dead({process.pid()}));
    EXPECT_EQ(folder_.files(), Names{});
    EXPECT_EQ(remove_segments_of({process.pid()}), 0U);
  }
}

}  // namespace
}  // namespace ucxbench
