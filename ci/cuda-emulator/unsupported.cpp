// What exists, so that libraries that import it can be loaded, and says that it is not supported.

#include "ci/cuda-emulator/driver.hpp"

extern "C" __attribute__((used, visibility("hidden"))) emulator::Result emulated_unsupported() {
  return emulator::NOT_SUPPORTED;
}

#define UNSUPPORTED(name) EMULATED_ENTRY(name, emulated_unsupported)

// Virtual memory management.
UNSUPPORTED(cuMemGetAccess);
UNSUPPORTED(cuMemGetHandleForAddressRange);

// Memory pools.
UNSUPPORTED(cuDeviceGetDefaultMemPool);
UNSUPPORTED(cuDeviceGetMemPool);
UNSUPPORTED(cuDeviceSetMemPool);
UNSUPPORTED(cuMemAllocFromPoolAsync);
UNSUPPORTED(cuMemPoolCreate);
UNSUPPORTED(cuMemPoolDestroy);
UNSUPPORTED(cuMemPoolExportPointer);
UNSUPPORTED(cuMemPoolExportToShareableHandle);
UNSUPPORTED(cuMemPoolGetAccess);
UNSUPPORTED(cuMemPoolGetAttribute);
UNSUPPORTED(cuMemPoolImportFromShareableHandle);
UNSUPPORTED(cuMemPoolImportPointer);
UNSUPPORTED(cuMemPoolSetAccess);
UNSUPPORTED(cuMemPoolSetAttribute);
UNSUPPORTED(cuMemPoolTrimTo);

// Kernels.
UNSUPPORTED(cuFuncGetAttribute);
UNSUPPORTED(cuFuncSetAttribute);
UNSUPPORTED(cuKernelGetFunction);
UNSUPPORTED(cuLaunchCooperativeKernel);
UNSUPPORTED(cuLaunchKernelEx);
UNSUPPORTED(cuLibraryGetGlobal);
UNSUPPORTED(cuLibraryGetKernel);
UNSUPPORTED(cuLibraryLoadData);
UNSUPPORTED(cuLibraryUnload);
UNSUPPORTED(cuModuleGetGlobal_v2);
UNSUPPORTED(cuModuleLoad);
UNSUPPORTED(cuModuleLoadDataEx);
UNSUPPORTED(cuModuleLoadFatBinary);
UNSUPPORTED(cuOccupancyMaxActiveBlocksPerMultiprocessor);

// Others.
UNSUPPORTED(cuGetExportTable);
UNSUPPORTED(cuIpcGetEventHandle);
UNSUPPORTED(cuIpcOpenEventHandle);
UNSUPPORTED(cuMemAllocPitch_v2);
UNSUPPORTED(cuMemcpy2DAsync_v2);
UNSUPPORTED(cuMemcpy2D_v2);
UNSUPPORTED(cuStreamBeginCapture_v2);
UNSUPPORTED(cuStreamEndCapture);
UNSUPPORTED(cuStreamWaitValue32_v2);
UNSUPPORTED(cuStreamWaitValue64_v2);
UNSUPPORTED(cuStreamWriteValue32_v2);
UNSUPPORTED(cuStreamWriteValue64_v2);
