find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
find_package(pugixml REQUIRED)
find_package(tomlplusplus REQUIRED)

# Debian's libucx-dev by default; a site's own UCX, or the wheel's, by CMAKE_PREFIX_PATH. The
# run path points at the library that was compiled against: two UCX share one soname.
find_package(ucx CONFIG REQUIRED)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
# The above leaves out what lies inside this tree, as the wheel does.
get_target_property(ucx_library ucx::ucp IMPORTED_LOCATION)
get_filename_component(ucx_directory "${ucx_library}" DIRECTORY)
if(NOT ucx_directory IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
  set(CMAKE_INSTALL_RPATH ${ucx_directory})
endif()

# Of --comm mpi: Debian's libopenmpi-dev, or another Open MPI by CMAKE_PREFIX_PATH.
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI QUIET COMPONENTS CXX)

if(UCXBENCH_TESTS)
  find_package(GTest REQUIRED)
endif()
if(UCXBENCH_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
