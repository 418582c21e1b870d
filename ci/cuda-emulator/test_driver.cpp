#include "ci/cuda-emulator/test_driver.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace emulator::test {

int status_of(const Environment& environment, const std::function<void()>& body) {
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    constexpr unsigned LIMIT_S = 30;
    alarm(LIMIT_S);
    unsetenv("CUDA_VISIBLE_DEVICES");
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    body();
    std::exit(testing::Test::HasFailure() ? EXIT_FAILURE : EXIT_SUCCESS);
  }
  int status = -1;
  waitpid(pid, &status, 0);
  return status;
}

void* open_library(const std::string& name) {
  const auto path = std::string(EMULATOR_FOLDER) + "/" + name;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) ADD_FAILURE() << dlerror();
  return library;
}

Symbol symbol(void* library, const char* name) {
  void* address = dlsym(library, name);
  if (address == nullptr) ADD_FAILURE() << dlerror();
  return {address};
}

Driver::Driver(bool with_context) {
  if (!with_context) return;
  EXPECT_EQ(SUCCESS, init(0));
  Handle context = nullptr;
  EXPECT_EQ(SUCCESS, retain(&context, 0));
  EXPECT_EQ(SUCCESS, set_current(context));
}

DevicePointer Driver::filled(std::size_t bytes, std::uint8_t value) const {
  DevicePointer pointer = 0;
  EXPECT_EQ(SUCCESS, allocate(&pointer, bytes));
  EXPECT_EQ(SUCCESS, fill(pointer, value, bytes));
  return pointer;
}

int Driver::byte_at(DevicePointer pointer) const {
  std::uint8_t byte = 0;
  EXPECT_EQ(SUCCESS, to_host(&byte, pointer, 1));
  return byte;
}

}  // namespace emulator::test
