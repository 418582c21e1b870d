#include <signal.h>
#include <sys/wait.h>

#include <string>
#include <vector>

#include "ci/cuda-emulator/test_driver.hpp"

namespace emulator::test {
namespace {

constexpr std::size_t KIB = 1024;

const void* as_host(DevicePointer pointer) { return reinterpret_cast<const void*>(pointer); }

template <typename Value>
Value attribute(const Driver& cuda, int which, DevicePointer pointer) {
  Value value{};
  EXPECT_EQ(SUCCESS, cuda.pointer_attribute(&value, which, pointer));
  return value;
}

TEST(EmulatedMemory, KeepsWhatIsCopiedAndFilled) {
  in_process({}, [] {
    const Driver cuda;
    const auto first = cuda.filled(100 * KIB, 0x11);
    const auto second = cuda.filled(100 * KIB, 0x22);
    EXPECT_EQ(0x11, cuda.byte_at(first + 99 * KIB));
    std::string text(5000, 'a');
    EXPECT_EQ(SUCCESS, cuda.to_device(first + 7, text.data(), text.size()));
    EXPECT_EQ(SUCCESS, cuda.on_device(second + 3, first + 7, text.size()));
    std::string back(text.size(), ' ');
    EXPECT_EQ(SUCCESS, cuda.to_host(back.data(), second + 3, back.size()));
    EXPECT_EQ(text, back);
    EXPECT_EQ(0x22, cuda.byte_at(second + 2));
    EXPECT_EQ(0x22, cuda.byte_at(second + 3 + text.size()));
    EXPECT_EQ(SUCCESS, cuda.fill_words(first, 0x04030201, 4));
    EXPECT_EQ(3, cuda.byte_at(first + 14));
    EXPECT_EQ(INVALID_VALUE, cuda.fill_words(first + 1, 0, 1));
    // Unified addressing: the addresses alone say which way.
    EXPECT_EQ(SUCCESS, cuda.copy(reinterpret_cast<DevicePointer>(back.data()), first, 4));
    EXPECT_EQ('\x04', back[3]);
    EXPECT_EQ(SUCCESS, cuda.free(first));
    EXPECT_EQ(SUCCESS, cuda.free(second));
  });
}

TEST(EmulatedMemory, FaultsWhenTheHostTouchesADevice) {
  const auto touch = [](auto access) {
    const int status = status_of({}, [access] {
      const Driver cuda;
      const auto pointer = cuda.filled(4 * MIB, 1);
      signal(SIGSEGV, SIG_DFL);  // a sanitizer's own
      access(reinterpret_cast<volatile char*>(pointer), cuda);
    });
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
  };
  const auto read = [](volatile char* pointer) { return static_cast<char>(*pointer); };
  EXPECT_TRUE(touch([read](volatile char* pointer, const Driver&) { read(pointer); }));
  EXPECT_TRUE(touch([](volatile char* pointer, const Driver&) { pointer[4 * MIB - 1] = 1; }));
  EXPECT_TRUE(touch([read](volatile char* pointer, const Driver&) { read(pointer + 4 * MIB); }));
  EXPECT_TRUE(touch([read](volatile char* pointer, const Driver& cuda) {
    EXPECT_EQ(SUCCESS, cuda.free(reinterpret_cast<DevicePointer>(pointer)));
    read(pointer);
  }));
  EXPECT_FALSE(touch([](volatile char*, const Driver&) {}));
}

TEST(EmulatedMemory, RefusesWhatIsOutOfBounds) {
  in_process({}, [] {
    const Driver cuda;
    const auto pointer = cuda.filled(1000, 1);
    std::vector<char> host(2000);
    EXPECT_EQ(SUCCESS, cuda.to_host(host.data(), pointer, 1000));
    EXPECT_EQ(ILLEGAL_ADDRESS, cuda.to_host(host.data(), pointer, 1001));
    EXPECT_EQ(ILLEGAL_ADDRESS, cuda.to_device(pointer + 999, host.data(), 2));
    EXPECT_EQ(ILLEGAL_ADDRESS, cuda.to_device(pointer - 1, host.data(), 2));
    EXPECT_EQ(ILLEGAL_ADDRESS, cuda.on_device(pointer, pointer + 1000, 1));
    EXPECT_EQ(ILLEGAL_ADDRESS, cuda.fill(pointer, 0, 1001));
    EXPECT_EQ(ILLEGAL_ADDRESS, cuda.fill_words(pointer, 0, SIZE_MAX / 2));
    EXPECT_EQ(SUCCESS, cuda.free(pointer));
    EXPECT_EQ(ILLEGAL_ADDRESS, cuda.to_host(host.data(), pointer, 1));
    EXPECT_EQ(INVALID_VALUE, cuda.free(pointer));
    // The wrong side of a copy.
    const auto other = cuda.filled(1000, 1);
    EXPECT_EQ(INVALID_VALUE, cuda.to_device(other, as_host(other), 8));
    EXPECT_EQ(INVALID_VALUE,
              cuda.on_device(other, reinterpret_cast<DevicePointer>(host.data()), 8));
    EXPECT_EQ(INVALID_VALUE, cuda.free(other + 1));
  });
}

TEST(EmulatedMemory, EndsAndComesBack) {
  in_process({{"CUDA_EMULATOR_GPU_BYTES", std::to_string(8 * MIB)}}, [] {
    const Driver cuda;
    std::size_t free = 0;
    std::size_t total = 0;
    DevicePointer all = 0;
    DevicePointer more = 0;
    EXPECT_EQ(INVALID_VALUE, cuda.allocate(&all, 0));
    EXPECT_EQ(OUT_OF_MEMORY, cuda.allocate(&all, 8 * MIB + 1));
    EXPECT_EQ(OUT_OF_MEMORY, cuda.allocate(&all, SIZE_MAX));
    EXPECT_EQ(SUCCESS, cuda.allocate(&all, 7 * MIB));
    EXPECT_EQ(SUCCESS, cuda.memory_info(&free, &total));
    EXPECT_EQ(1 * MIB, free);
    EXPECT_EQ(8 * MIB, total);
    EXPECT_EQ(OUT_OF_MEMORY, cuda.allocate(&more, 2 * MIB));
    EXPECT_EQ(SUCCESS, cuda.free(all));
    EXPECT_EQ(SUCCESS, cuda.allocate(&more, 8 * MIB));
    EXPECT_EQ(all, more) << "freed addresses come again, as they do with the driver";
    // The other device has memory of its own.
    Handle second = nullptr;
    EXPECT_EQ(SUCCESS, cuda.retain(&second, 1));
    EXPECT_EQ(SUCCESS, cuda.push(second));
    EXPECT_EQ(SUCCESS, cuda.allocate(&all, 8 * MIB));
  });
}

TEST(EmulatedMemory, IsKnownByItsAttributes) {
  in_process({}, [] {
    const Driver cuda;
    Handle context = nullptr;
    EXPECT_EQ(SUCCESS, cuda.get_current(&context));
    const auto device = cuda.filled(10 * KIB, 0);
    DevicePointer managed = 0;
    EXPECT_EQ(SUCCESS, cuda.allocate_managed(&managed, 10 * KIB, 1));
    void* host = nullptr;
    EXPECT_EQ(SUCCESS, cuda.allocate_host(&host, 10 * KIB, 0));
    const auto pinned = reinterpret_cast<DevicePointer>(host);

    EXPECT_EQ(DEVICE_MEMORY, attribute<unsigned>(cuda, MEMORY_TYPE, device + 5));
    EXPECT_EQ(DEVICE_MEMORY, attribute<unsigned>(cuda, MEMORY_TYPE, managed));
    EXPECT_EQ(HOST_MEMORY, attribute<unsigned>(cuda, MEMORY_TYPE, pinned));
    EXPECT_EQ(0u, attribute<unsigned>(cuda, IS_MANAGED, device));
    EXPECT_EQ(1u, attribute<unsigned>(cuda, IS_MANAGED, managed));
    EXPECT_EQ(context, attribute<Handle>(cuda, CONTEXT, device));
    EXPECT_EQ(0, attribute<int>(cuda, DEVICE_ORDINAL, device));
    EXPECT_EQ(1u, attribute<unsigned>(cuda, IS_LEGACY_IPC_CAPABLE, device));
    EXPECT_EQ(0u, attribute<unsigned>(cuda, IS_LEGACY_IPC_CAPABLE, managed));
    EXPECT_NE(attribute<unsigned long long>(cuda, BUFFER_ID, device),
              attribute<unsigned long long>(cuda, BUFFER_ID, managed));
    EXPECT_EQ(device, attribute<DevicePointer>(cuda, RANGE_START, device + 100));

    DevicePointer base = 0;
    std::size_t bytes = 0;
    EXPECT_EQ(SUCCESS, cuda.address_range(&base, &bytes, device + 10 * KIB - 1));
    EXPECT_EQ(device, base);
    EXPECT_EQ(10 * KIB, bytes);
    EXPECT_EQ(NOT_FOUND, cuda.address_range(&base, &bytes, device + 10 * KIB));

    // Ordinary memory: an error for one attribute, an empty answer for several.
    int local = 0;
    unsigned type = 77;
    Device ordinal = 77;
    const auto unknown = reinterpret_cast<DevicePointer>(&local);
    EXPECT_EQ(INVALID_VALUE, cuda.pointer_attribute(&type, MEMORY_TYPE, unknown));
    int names[] = {MEMORY_TYPE, DEVICE_ORDINAL};
    void* values[] = {&type, &ordinal};
    EXPECT_EQ(SUCCESS, cuda.pointer_attributes(2, names, values, unknown));
    EXPECT_EQ(0u, type);
    EXPECT_EQ(NO_SUCH_DEVICE, ordinal);
  });
}

TEST(EmulatedMemory, OfAPoolBelongsToNoContext) {
  in_process({}, [] {
    const Driver cuda;
    Result (*allocate)(DevicePointer*, std::size_t, Handle) = cuda.find("cuMemAllocAsync");
    Result (*free)(DevicePointer, Handle) = cuda.find("cuMemFreeAsync");
    DevicePointer pooled = 0;
    EXPECT_EQ(SUCCESS, allocate(&pooled, 10 * KIB, nullptr));
    EXPECT_EQ(SUCCESS, cuda.fill(pooled, 7, 10 * KIB));
    EXPECT_EQ(7, cuda.byte_at(pooled + 10 * KIB - 1));
    EXPECT_EQ(DEVICE_MEMORY, attribute<unsigned>(cuda, MEMORY_TYPE, pooled));
    EXPECT_EQ(0u, attribute<unsigned>(cuda, IS_MANAGED, pooled));
    EXPECT_EQ(nullptr, attribute<Handle>(cuda, CONTEXT, pooled));
    EXPECT_NE(nullptr, attribute<Handle>(cuda, MEMPOOL_HANDLE, pooled));
    EXPECT_EQ(0u, attribute<unsigned>(cuda, IS_LEGACY_IPC_CAPABLE, pooled));
    EXPECT_EQ(0u, attribute<unsigned long long>(cuda, ALLOWED_HANDLE_TYPES, pooled));
    IpcHandle handle;
    EXPECT_EQ(INVALID_VALUE, cuda.export_memory(&handle, pooled));
    EXPECT_EQ(SUCCESS, free(pooled, nullptr));
    EXPECT_EQ(INVALID_VALUE, free(pooled, nullptr));
    EXPECT_EQ(SUCCESS, allocate(&pooled, 1, nullptr));
    EXPECT_EQ(SUCCESS, cuda.free(pooled));
  });
}

TEST(EmulatedMemory, OfTheHostCanBeUsedByBoth) {
  in_process({}, [] {
    const Driver cuda;
    DevicePointer managed = 0;
    EXPECT_EQ(INVALID_VALUE, cuda.allocate_managed(&managed, 100, 0));
    EXPECT_EQ(SUCCESS, cuda.allocate_managed(&managed, 100, 1));
    EXPECT_EQ(SUCCESS, cuda.fill(managed, 9, 100));
    EXPECT_EQ(9, *reinterpret_cast<char*>(managed + 99));
    EXPECT_EQ(SUCCESS, cuda.free(managed));

    void* pinned = nullptr;
    DevicePointer device = 0;
    EXPECT_EQ(SUCCESS, cuda.allocate_host(&pinned, 100, 0));
    static_cast<char*>(pinned)[99] = 5;
    EXPECT_EQ(SUCCESS, cuda.host_device_pointer(&device, pinned, 0));
    EXPECT_EQ(5, cuda.byte_at(device + 99));
    EXPECT_EQ(INVALID_VALUE, cuda.free(device));
    EXPECT_EQ(SUCCESS, cuda.free_host(pinned));

    std::vector<char> memory(8192, 3);
    EXPECT_EQ(HOST_MEMORY_NOT_REGISTERED, cuda.unregister_host(memory.data()));
    EXPECT_EQ(SUCCESS, cuda.register_host(memory.data(), memory.size(), 1));
    EXPECT_EQ(HOST_MEMORY_ALREADY_REGISTERED, cuda.register_host(memory.data() + 4096, 1, 1));
    EXPECT_EQ(SUCCESS, cuda.host_device_pointer(&device, memory.data() + 8191, 0));
    EXPECT_EQ(3, cuda.byte_at(device));
    EXPECT_EQ(SUCCESS, cuda.unregister_host(memory.data()));
    EXPECT_EQ(3, memory[8191]);
  });
}

}  // namespace
}  // namespace emulator::test
