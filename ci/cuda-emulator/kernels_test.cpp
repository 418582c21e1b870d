#include <cstring>
#include <string>

#include "ci/cuda-emulator/test_driver.hpp"
#include "workloads/merge/cuda_arguments.hpp"

namespace emulator::test {
namespace {

using ucxbench::merge::ClearArguments;
using ucxbench::merge::no_key;

/// As nvcc begins a fat binary, and in it names of kernels as the code for one architecture has.
std::string image_with(const std::string& names) {
  struct {
    std::uint32_t magic = 0xba55ed50;
    std::uint16_t version = 1, header_bytes = 16;
    std::uint64_t bytes = 0;
  } header;
  header.bytes = names.size();
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + names;
}

struct Kernels : Driver {
  Result (*load)(Handle*, const void*) = find("cuModuleLoadData");
  Result (*unload)(Handle) = find("cuModuleUnload");
  Result (*get)(Handle*, Handle, const char*) = find("cuModuleGetFunction");
  Result (*launch)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   Handle, void**, void**) = find("cuLaunchKernel");

  Result run(Handle function, ClearArguments arguments, unsigned blocks = 1) const {
    void* parameters[] = {&arguments};
    return launch(function, blocks, 1, 1, 256, 1, 1, 0, nullptr, parameters, nullptr);
  }
};

TEST(EmulatedKernels, AreThoseOfTheImageThatHaveABody) {
  in_process({}, [] {
    const Kernels cuda;
    Handle module = nullptr;
    Handle function = nullptr;
    EXPECT_EQ(INVALID_IMAGE, cuda.load(&module, "not a fat binary"));
    const auto image = image_with(std::string("\0merge_clear\0unheard_of\0", 24));
    ASSERT_EQ(SUCCESS, cuda.load(&module, image.data()));
    EXPECT_EQ(SUCCESS, cuda.get(&function, module, "merge_clear"));
    EXPECT_EQ(NOT_FOUND, cuda.get(&function, module, "merge_count"));
    EXPECT_EQ(NOT_FOUND, cuda.get(&function, module, "unheard_of"));
    EXPECT_EQ(SUCCESS, cuda.unload(module));
    EXPECT_EQ(INVALID_HANDLE, cuda.get(&function, module, "merge_clear"));
    EXPECT_EQ(INVALID_HANDLE, cuda.run(function, {}));
  });
}

TEST(EmulatedKernels, WorkOnDeviceMemoryAndStayInside) {
  in_process({}, [] {
    const Kernels cuda;
    const auto image = image_with(std::string("\0merge_clear\0", 13));
    Handle module = nullptr;
    Handle clear = nullptr;
    ASSERT_EQ(SUCCESS, cuda.load(&module, image.data()));
    ASSERT_EQ(SUCCESS, cuda.get(&clear, module, "merge_clear"));
    const auto memory = cuda.filled(64, 0);
    ClearArguments arguments{.table = {reinterpret_cast<std::uint64_t*>(memory), 4, 2}};
    EXPECT_EQ(INVALID_VALUE, cuda.run(clear, arguments, 0));
    EXPECT_EQ(SUCCESS, cuda.run(clear, arguments));
    std::uint64_t last = 0;
    EXPECT_EQ(SUCCESS, cuda.to_host(&last, memory + 56, sizeof last));
    EXPECT_EQ(no_key, last);
    arguments.table.slots = 5;
    EXPECT_EQ(ILLEGAL_ADDRESS, cuda.run(clear, arguments));
  });
}

}  // namespace
}  // namespace emulator::test
