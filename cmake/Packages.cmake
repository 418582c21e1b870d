find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)

# Debian's libucx-dev by default; a site's own UCX, or the wheel's, by CMAKE_PREFIX_PATH. The
# run path points at the library that was compiled against: two UCX share one soname.
find_package(ucx CONFIG REQUIRED)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

if(UCXBENCH_CUDA)
  find_package(CUDAToolkit)
  if(NOT CUDAToolkit_NVCC_EXECUTABLE)
    message(FATAL_ERROR "UCXBENCH_CUDA is ON (as in the preset gpu), but there is no CUDA toolkit: "
                        "put its nvcc on the PATH or give -DCUDAToolkit_ROOT=DIRECTORY.")
  endif()
endif()

if(UCXBENCH_TESTS)
  find_package(GTest REQUIRED)
endif()
if(UCXBENCH_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
