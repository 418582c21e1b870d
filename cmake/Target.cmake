# ucxbench_library(NAME SOURCES … LINK …): one folder, one target. OBJECT, so that files which only
# register themselves are not dropped by the linker.
function(ucxbench_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_library(${name} OBJECT ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC ucxbench_flags ${arg_LINK})
endfunction()

# ucxbench_test(NAME SOURCES … LINK … [LABELS …]): one GoogleTest executable; each of its cases is
# one test, labelled unit unless LABELS says multi-process, cli, fault, gpu, release-only or long.
# Object libraries do not pass their objects on, so LINK names every folder that is used.
function(ucxbench_test name)
  if(NOT UCXBENCH_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK;LABELS")
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ucxbench_flags ${arg_LINK} GTest::gtest_main)
  include(GoogleTest)
  gtest_discover_tests(${name} NO_PRETTY_VALUES DISCOVERY_TIMEOUT 30
                       PROPERTIES TIMEOUT 60 LABELS "${arg_LABELS}")
endfunction()

# What a rank's side stands on; object libraries do not pass it on.
set(UCXBENCH_RUN run comm launch topology memory result core ucxbench_build_info)

# ucxbench_benchmark(NAME SOURCES … [LINK …] [PARTS …] [TESTS …]): the folder of a benchmark, all that
# CMake has to know of it. LINK: libraries that several benchmarks use; PARTS: targets of its own
# beside NAME; TESTS: sources of NAME_test. The program has every benchmark, by the global property
# UCXBENCH_BENCHMARKS.
function(ucxbench_benchmark name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK;PARTS;TESTS")
  ucxbench_library(${name} SOURCES ${arg_SOURCES} LINK run ${arg_LINK})
  get_property(all GLOBAL PROPERTY UCXBENCH_BENCHMARKS)
  list(APPEND all ${name} ${arg_PARTS} ${arg_LINK})
  list(REMOVE_DUPLICATES all)
  set_property(GLOBAL PROPERTY UCXBENCH_BENCHMARKS ${all})
  if(arg_TESTS)
    ucxbench_test(${name}_test SOURCES ${arg_TESTS}
                               LINK ${name} ${arg_PARTS} ${arg_LINK} ${UCXBENCH_RUN})
  endif()
endfunction()
