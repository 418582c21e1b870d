#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "ci/cuda-emulator/test_driver.hpp"

namespace emulator::test {
namespace {

TEST(EmulatedDriver, SaysWhatTheEnvironmentSays) {
  in_process({{"CUDA_EMULATOR_GPUS", "3"}}, [] {
    const Driver cuda;
    int value = 0;
    EXPECT_EQ(SUCCESS, cuda.version(&value));
    EXPECT_EQ(13000, value);
    EXPECT_EQ(SUCCESS, cuda.device_count(&value));
    EXPECT_EQ(3, value);
    char text[64];
    EXPECT_EQ(SUCCESS, cuda.device_name(text, sizeof text, 2));
    EXPECT_STREQ("Emulated GPU", text);
    EXPECT_EQ(INVALID_DEVICE, cuda.device_name(text, sizeof text, 3));
    EXPECT_EQ(SUCCESS, cuda.device_pci(text, sizeof text, 2));
    EXPECT_STREQ("E000:03:00.0", text);
    std::size_t bytes = 0;
    EXPECT_EQ(SUCCESS, cuda.device_bytes(&bytes, 0));
    EXPECT_EQ(1u << 30, bytes);
    EXPECT_EQ(SUCCESS, cuda.device_attribute(&value, UNIFIED_ADDRESSING, 0));
    EXPECT_EQ(1, value);
    EXPECT_EQ(SUCCESS, cuda.can_access_peer(&value, 0, 2));
    EXPECT_EQ(1, value);
    Uuid first;
    Uuid second;
    EXPECT_EQ(SUCCESS, cuda.device_uuid(&first, 0));
    EXPECT_EQ(SUCCESS, cuda.device_uuid(&second, 1));
    EXPECT_NE(0, std::memcmp(&first, &second, sizeof first));
  });
}

TEST(EmulatedDriver, CanBeAnOlderOne) {
  in_process({{"CUDA_EMULATOR_DRIVER_VERSION", "12020"}}, [] {
    const Driver cuda;
    int value = 0;
    EXPECT_EQ(SUCCESS, cuda.version(&value));
    EXPECT_EQ(12020, value);
    void* function = nullptr;
    EXPECT_EQ(SUCCESS, cuda.look_up("cuMemAlloc", &function, 12020, 0, &value));
    EXPECT_EQ(dlsym(cuda.library, "cuMemAlloc_v2"), function);
    EXPECT_EQ(0, value);
    EXPECT_EQ(SUCCESS, cuda.look_up("cuMemAlloc", &function, 13000, 0, &value));
    EXPECT_EQ(nullptr, function);
    EXPECT_EQ(2, value) << "the version is too high for this driver";
    EXPECT_EQ(SUCCESS, cuda.look_up("cuNoSuchThing", &function, 12000, 0, &value));
    EXPECT_EQ(nullptr, function);
    EXPECT_EQ(1, value) << "no such symbol";
    EXPECT_EQ(NOT_FOUND, cuda.look_up("cuNoSuchThing", &function, 12000, 0, nullptr));
  });
}

TEST(EmulatedDriver, HasNoDevicesIfToldSo) {
  const auto expect_none = [] {
    const Driver cuda(false);
    EXPECT_EQ(NO_DEVICE, cuda.init(0));
    int count = 0;
    EXPECT_EQ(NOT_INITIALIZED, cuda.device_count(&count));
  };
  in_process({{"CUDA_EMULATOR_GPUS", "0"}}, expect_none);
  in_process({{"CUDA_VISIBLE_DEVICES", ""}}, expect_none);
  in_process({{"CUDA_VISIBLE_DEVICES", "-1,0"}}, expect_none);
  in_process({{"CUDA_VISIBLE_DEVICES", "0,0"}}, expect_none);
}

TEST(EmulatedDriver, ShowsTheVisibleDevicesOnly) {
  const auto expect_last = [] {
    const Driver cuda;
    int count = 0;
    char text[64];
    EXPECT_EQ(SUCCESS, cuda.device_count(&count));
    EXPECT_EQ(1, count);
    EXPECT_EQ(SUCCESS, cuda.device_pci(text, sizeof text, 0));
    EXPECT_STREQ("E000:02:00.0", text);
  };
  in_process({{"CUDA_VISIBLE_DEVICES", "1"}}, expect_last);
  in_process({{"CUDA_VISIBLE_DEVICES", "1,7,0"}}, expect_last);
  in_process({{"CUDA_VISIBLE_DEVICES", "GPU-e301a7ed-01"}}, expect_last);
}

TEST(EmulatedDriver, WantsAContext) {
  in_process({}, [] {
    const Driver cuda(false);
    DevicePointer pointer = 0;
    EXPECT_EQ(NOT_INITIALIZED, cuda.allocate(&pointer, 1));
    EXPECT_EQ(SUCCESS, cuda.init(0));
    EXPECT_EQ(INVALID_CONTEXT, cuda.allocate(&pointer, 1));
    EXPECT_EQ(INVALID_CONTEXT, cuda.synchronize());
    Device device = -7;
    EXPECT_EQ(INVALID_CONTEXT, cuda.context_device(&device));

    Handle first = nullptr;
    Handle second = nullptr;
    Handle seen = nullptr;
    EXPECT_EQ(SUCCESS, cuda.retain(&first, 0));
    EXPECT_EQ(SUCCESS, cuda.retain(&second, 1));
    EXPECT_EQ(INVALID_DEVICE, cuda.retain(&seen, 2));
    EXPECT_EQ(INVALID_CONTEXT, cuda.push(&device));
    EXPECT_EQ(SUCCESS, cuda.push(first));
    EXPECT_EQ(SUCCESS, cuda.push(second));
    EXPECT_EQ(SUCCESS, cuda.context_device(&device));
    EXPECT_EQ(1, device);
    EXPECT_EQ(SUCCESS, cuda.pop(&seen));
    EXPECT_EQ(second, seen);
    EXPECT_EQ(SUCCESS, cuda.get_current(&seen));
    EXPECT_EQ(first, seen);
    EXPECT_EQ(SUCCESS, cuda.set_current(nullptr));
    EXPECT_EQ(INVALID_CONTEXT, cuda.pop(nullptr));
  });
}

TEST(EmulatedDriver, FreesWhatAContextHeld) {
  in_process({}, [] {
    const Driver cuda;
    const auto pointer = cuda.filled(100, 1);
    unsigned long long before = 0;
    unsigned long long after = 0;
    EXPECT_EQ(SUCCESS, cuda.context_id(nullptr, &before));
    EXPECT_EQ(SUCCESS, cuda.release(0));
    unsigned flags = 0;
    int active = 7;
    EXPECT_EQ(SUCCESS, cuda.primary_state(0, &flags, &active));
    EXPECT_EQ(0, active);
    EXPECT_EQ(CONTEXT_IS_DESTROYED, cuda.free(pointer));
    EXPECT_EQ(INVALID_CONTEXT, cuda.release(0));
    Handle context = nullptr;
    EXPECT_EQ(SUCCESS, cuda.retain(&context, 0));
    EXPECT_EQ(INVALID_VALUE, cuda.free(pointer));
    EXPECT_EQ(SUCCESS, cuda.context_id(context, &after));
    EXPECT_NE(before, after);

    Handle own = nullptr;
    EXPECT_EQ(SUCCESS, cuda.create_context(&own, 0, 1));
    EXPECT_EQ(SUCCESS, cuda.destroy_context(own));
    EXPECT_EQ(INVALID_CONTEXT, cuda.destroy_context(own));
    EXPECT_EQ(SUCCESS, cuda.get_current(&own));
    EXPECT_EQ(context, own);
  });
}

TEST(EmulatedDriver, DoesNotSurviveAFork) {
  in_process({}, [] {
    const Driver cuda;
    const pid_t child = fork();
    if (child == 0) {
      DevicePointer pointer = 0;
      _exit(cuda.allocate(&pointer, 1));
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(NOT_INITIALIZED, WEXITSTATUS(status));
    EXPECT_EQ(SUCCESS, cuda.synchronize());
  });
}

// As UCX does, which frees its caches from its destructors.
TEST(EmulatedDriver, CanBeCalledUntilTheEnd) {
  in_process({}, [] {
    static const Driver* cuda;
    static DevicePointer pointer;
    std::atexit([] {
      if (cuda->free(pointer) != SUCCESS) _exit(EXIT_FAILURE);
    });
    cuda = new Driver;
    pointer = cuda->filled(100, 0);
  });
}

TEST(EmulatedDriver, DoesEverythingAtOnce) {
  in_process({}, [] {
    const Driver cuda;
    Handle stream = nullptr;
    Handle start = nullptr;
    Handle end = nullptr;
    EXPECT_EQ(SUCCESS, cuda.create_stream(&stream, 1));
    EXPECT_EQ(SUCCESS, cuda.create_event(&start, 0));
    EXPECT_EQ(SUCCESS, cuda.create_event(&end, 0));
    float milliseconds = -1;
    EXPECT_EQ(INVALID_HANDLE, cuda.elapsed(&milliseconds, start, end)) << "not recorded yet";
    EXPECT_EQ(SUCCESS, cuda.record_event(start, stream));
    const auto from = cuda.filled(100, 6);
    const auto to = cuda.filled(100, 0);
    EXPECT_EQ(SUCCESS, cuda.on_device_async(to, from, 100, stream));
    EXPECT_EQ(6, cuda.byte_at(to + 99));
    EXPECT_EQ(SUCCESS, cuda.copy_async(to, from, 100, nullptr));
    EXPECT_EQ(SUCCESS, cuda.record_event(end, stream));
    EXPECT_EQ(SUCCESS, cuda.query_event(end));
    EXPECT_EQ(SUCCESS, cuda.elapsed(&milliseconds, start, end));
    EXPECT_LE(0, milliseconds);
    bool called = false;
    EXPECT_EQ(SUCCESS, cuda.launch_host(
                           stream, [](void* flag) { *static_cast<bool*>(flag) = true; }, &called));
    EXPECT_TRUE(called);
    EXPECT_EQ(SUCCESS, cuda.stream_synchronize(stream));
    EXPECT_EQ(SUCCESS, cuda.destroy_stream(stream));
    EXPECT_EQ(INVALID_HANDLE, cuda.copy_async(to, from, 1, stream));
    EXPECT_EQ(SUCCESS, cuda.destroy_event(start));
    EXPECT_EQ(INVALID_HANDLE, cuda.query_event(start));
  });
}

TEST(EmulatedDriver, NamesErrorsAndWhatItCannotDo) {
  in_process({}, [] {
    const Driver cuda;
    const char* name = nullptr;
    EXPECT_EQ(SUCCESS, cuda.error_name(ILLEGAL_ADDRESS, &name));
    EXPECT_STREQ("CUDA_ERROR_ILLEGAL_ADDRESS", name);
    EXPECT_EQ(INVALID_VALUE, cuda.error_name(12345, &name));
    for (const char* unsupported :
         {"cuMemPoolCreate", "cuMemAllocFromPoolAsync", "cuLaunchKernelEx"}) {
      Result (*call)() = cuda.find(unsupported);
      EXPECT_EQ(NOT_SUPPORTED, call()) << unsupported;
    }
  });
}

// What UCX patches must begin with 12 bytes that it can move elsewhere: pushes and a move.
TEST(EmulatedDriver, CanBePatched) {
  in_process({}, [] {
    const Driver cuda(false);
    constexpr unsigned char ENTRY[] = {0x55, 0x48, 0x89, 0xe5, 0x41, 0x57,
                                       0x41, 0x56, 0x41, 0x55, 0x41, 0x54};
    for (const char* name : {"cuMemAlloc_v2", "cuMemFree_v2", "cuMemFreeHost", "cuMemAllocManaged",
                             "cuMemMap", "cuMemAllocAsync"}) {
      const void* code = dlsym(cuda.library, name);
      ASSERT_NE(nullptr, code) << name;
      EXPECT_EQ(0, std::memcmp(code, ENTRY, sizeof ENTRY)) << name;
    }
  });
}

TEST(EmulatedRuntime, WorksOnTheEmulatedDriver) {
  for (const char* name : {"libcudart.so.12", "libcudart.so.13"}) {
    in_process({}, [name] {
      void* runtime = open_library(name);
      Result (*count)(int*) = symbol(runtime, "cudaGetDeviceCount");
      Result (*set_device)(int) = symbol(runtime, "cudaSetDevice");
      Result (*allocate)(void**, std::size_t) = symbol(runtime, "cudaMalloc");
      Result (*free)(void*) = symbol(runtime, "cudaFree");
      Result (*fill)(void*, int, std::size_t) = symbol(runtime, "cudaMemset");
      Result (*copy)(void*, const void*, std::size_t, int) = symbol(runtime, "cudaMemcpy");
      int value = 0;
      EXPECT_EQ(SUCCESS, count(&value));
      EXPECT_EQ(2, value);
      EXPECT_EQ(INVALID_DEVICE, set_device(2));
      EXPECT_EQ(SUCCESS, set_device(1));
      void* memory = nullptr;
      EXPECT_EQ(SUCCESS, free(nullptr));
      EXPECT_EQ(SUCCESS, allocate(&memory, 100));
      EXPECT_EQ(SUCCESS, fill(memory, 7, 100));
      char byte = 0;
      EXPECT_EQ(SUCCESS, copy(&byte, static_cast<char*>(memory) + 99, 1, 4));
      EXPECT_EQ(7, byte);
      EXPECT_EQ(SUCCESS, free(memory));
    });
  }
}

}  // namespace
}  // namespace emulator::test
