#include <cstring>

#include "ci/cuda-emulator/test_driver.hpp"

namespace emulator::test {
namespace {

using Physical = unsigned long long;

/// The functions that map memory.
struct Mapping : Driver {
  Result (*granularity)(std::size_t*, const PhysicalProperties*,
                        int) = find("cuMemGetAllocationGranularity");
  Result (*create)(Physical*, std::size_t, const PhysicalProperties*,
                   unsigned long long) = find("cuMemCreate");
  Result (*release_physical)(Physical) = find("cuMemRelease");
  Result (*reserve)(DevicePointer*, std::size_t, std::size_t, DevicePointer,
                    unsigned long long) = find("cuMemAddressReserve");
  Result (*give_back)(DevicePointer, std::size_t) = find("cuMemAddressFree");
  Result (*map)(DevicePointer, std::size_t, std::size_t, Physical,
                unsigned long long) = find("cuMemMap");
  Result (*unmap)(DevicePointer, std::size_t) = find("cuMemUnmap");
  Result (*set_access)(DevicePointer, std::size_t, const AccessDescriptor*,
                       std::size_t) = find("cuMemSetAccess");
  Result (*retain_physical)(Physical*, void*) = find("cuMemRetainAllocationHandle");
  Result (*export_physical)(void*, Physical, int,
                            unsigned long long) = find("cuMemExportToShareableHandle");
  Result (*import_physical)(Physical*, void*, int) = find("cuMemImportFromShareableHandle");

  static PhysicalProperties asking_for(int handle_types) {
    PhysicalProperties asked{};
    asked.type = 1;
    asked.handle_types = handle_types;
    asked.location = {LOCATION_IS_DEVICE, 0};
    return asked;
  }

  DevicePointer mapped(Physical physical, std::size_t bytes) const {
    DevicePointer pointer = 0;
    EXPECT_EQ(SUCCESS, reserve(&pointer, bytes, 0, 0, 0));
    EXPECT_EQ(SUCCESS, map(pointer, bytes, 0, physical, 0));
    EXPECT_EQ(ILLEGAL_ADDRESS, fill(pointer, 1, 1)) << "nobody has access yet";
    const AccessDescriptor access{.location = {LOCATION_IS_DEVICE, 0}, .flags = 3};
    EXPECT_EQ(SUCCESS, set_access(pointer, bytes, &access, 1));
    return pointer;
  }
  void unmapped(DevicePointer pointer, std::size_t bytes) const {
    EXPECT_EQ(INVALID_VALUE, give_back(pointer, bytes)) << "still mapped";
    EXPECT_EQ(SUCCESS, unmap(pointer, bytes));
    EXPECT_EQ(ILLEGAL_ADDRESS, fill(pointer, 1, 1));
    EXPECT_EQ(SUCCESS, give_back(pointer, bytes));
    EXPECT_EQ(INVALID_VALUE, give_back(pointer, bytes));
  }
};

TEST(EmulatedVirtualMemory, IsMappedAndUnmapped) {
  in_process({}, [] {
    const Mapping cuda;
    const auto asked = Mapping::asking_for(FILE_DESCRIPTOR);
    std::size_t unit = 0;
    EXPECT_EQ(SUCCESS, cuda.granularity(&unit, &asked, 0));
    EXPECT_EQ(2 * MIB, unit);
    Physical physical = 0;
    EXPECT_EQ(INVALID_VALUE, cuda.create(&physical, MIB, &asked, 0));
    EXPECT_EQ(SUCCESS, cuda.create(&physical, 4 * MIB, &asked, 0));
    const auto pointer = cuda.mapped(physical, 4 * MIB);
    // The mapping keeps it.
    EXPECT_EQ(SUCCESS, cuda.release_physical(physical));
    EXPECT_EQ(SUCCESS, cuda.fill(pointer, 5, 4 * MIB));
    EXPECT_EQ(5, cuda.byte_at(pointer + 4 * MIB - 1));
    Handle context = &unit;
    EXPECT_EQ(SUCCESS, cuda.pointer_attribute(&context, CONTEXT, pointer));
    EXPECT_EQ(nullptr, context);
    unsigned long long types = 0;
    EXPECT_EQ(SUCCESS, cuda.pointer_attribute(&types, ALLOWED_HANDLE_TYPES, pointer));
    EXPECT_EQ(static_cast<unsigned long long>(FILE_DESCRIPTOR), types);
    IpcHandle handle;
    EXPECT_EQ(INVALID_VALUE, cuda.export_memory(&handle, pointer));
    const auto ordinary = cuda.filled(100, 0);
    Physical retained = 0;
    EXPECT_EQ(INVALID_VALUE, cuda.retain_physical(&retained, reinterpret_cast<void*>(ordinary)));
    EXPECT_EQ(SUCCESS, cuda.retain_physical(&retained, reinterpret_cast<void*>(pointer + 9)));
    EXPECT_EQ(SUCCESS, cuda.release_physical(retained));
    cuda.unmapped(pointer, 4 * MIB);
    EXPECT_EQ(INVALID_VALUE, cuda.release_physical(physical)) << "gone with its mapping";
  });
}

TEST(EmulatedVirtualMemory, HasFabricHandlesWhereTheMachineHas) {
  in_process({}, [] {
    const Mapping cuda;
    const auto asked = Mapping::asking_for(FABRIC);
    Physical physical = 0;
    EXPECT_EQ(NOT_PERMITTED, cuda.create(&physical, 2 * MIB, &asked, 0));
  });
  in_process({{"CUDA_EMULATOR_FABRIC", "1"}}, [] {
    const Mapping cuda;
    const auto asked = Mapping::asking_for(FABRIC);
    Physical physical = 0;
    EXPECT_EQ(SUCCESS, cuda.create(&physical, 2 * MIB, &asked, 0));
    const auto pointer = cuda.mapped(physical, 2 * MIB);
    EXPECT_EQ(SUCCESS, cuda.fill(pointer, 6, 2 * MIB));
    FabricHandle handle;
    EXPECT_EQ(INVALID_VALUE, cuda.export_physical(&handle, physical, FILE_DESCRIPTOR, 0));
    EXPECT_EQ(SUCCESS, cuda.export_physical(&handle, physical, FABRIC, 0));
    Physical imported = 0;
    EXPECT_EQ(SUCCESS, cuda.import_physical(&imported, &handle, FABRIC));
    const auto again = cuda.mapped(imported, 2 * MIB);
    EXPECT_EQ(6, cuda.byte_at(again + 2 * MIB - 1)) << "the same bytes";
    EXPECT_EQ(SUCCESS, cuda.release_physical(imported));
    cuda.unmapped(again, 2 * MIB);
    EXPECT_EQ(SUCCESS, cuda.release_physical(physical));
    cuda.unmapped(pointer, 2 * MIB);
    EXPECT_EQ(MAP_FAILED_, cuda.import_physical(&imported, &handle, FABRIC)) << "it is gone";
  });
}

}  // namespace
}  // namespace emulator::test
