# Precompiled headers, one per set of options: GCC takes one that was made with another -O, and then
# may crash. Only with unity builds: in the presets debug and tidy each file shows what it includes.
set(ucxbench_precompiled
  <algorithm> <array> <charconv> <chrono> <cmath> <cstdint> <cstdio> <cstdlib> <cstring> <filesystem>
  <fstream> <functional> <map> <memory> <numeric> <optional> <set> <span> <sstream> <string>
  <string_view> <thread> <utility> <vector>
  <fmt/format.h> <fmt/ranges.h> <nlohmann/json.hpp>)

# How a Release build optimizes: what is measured and its checks by the preset's -O2 (hot), loops over
# arrays by -O3 (ucxbench_kernels); what plans, launches, judges and writes so far as it costs no time
# to compile (cold); what only tests are not at all.
set(ucxbench_options_hot "")
set(ucxbench_options_cold $<$<CONFIG:Release>:-Og>)
# Nor do they need to be found in a debugger where sanitizers run: an assertion says its own line.
set(ucxbench_options_test "$<$<CONFIG:Release>:-O0;-g0>")
if(UCXBENCH_SANITIZE)
  list(APPEND ucxbench_options_test -g0)
endif()

# ucxbench_precompile(TARGET KIND): KIND is hot, cold or test.
function(ucxbench_precompile target kind)
  set_target_properties(${target} PROPERTIES UCXBENCH_KIND ${kind})
  target_compile_options(${target} PRIVATE ${ucxbench_options_${kind}})
  # ccache finds nothing again that was compiled with them.
  if(NOT CMAKE_UNITY_BUILD OR CMAKE_CXX_COMPILER_LAUNCHER)
    return()
  endif()
  set(precompiled ucxbench_precompiled_${kind})
  if(NOT TARGET ${precompiled})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/${precompiled}.cpp CONTENT "")
    add_library(${precompiled} OBJECT ${PROJECT_BINARY_DIR}/generated/${precompiled}.cpp)
    set_target_properties(${precompiled} PROPERTIES UCXBENCH_KIND ${kind})
    target_compile_options(${precompiled} PRIVATE ${ucxbench_options_${kind}})
    target_link_libraries(${precompiled} PRIVATE ucxbench_flags fmt::fmt nlohmann_json::nlohmann_json)
    set(headers ${ucxbench_precompiled})
    if(kind STREQUAL test)
      target_link_libraries(${precompiled} PRIVATE GTest::gtest)
      list(APPEND headers <gtest/gtest.h>)
    endif()
    target_precompile_headers(${precompiled} PRIVATE ${headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${precompiled})
endfunction()

# ucxbench_library(NAME [COLD] SOURCES … LINK …): one folder, one target. OBJECT, so that files which
# only register themselves are not dropped by the linker. Hot, unless it is COLD.
function(ucxbench_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "COLD" "" "SOURCES;LINK")
  add_library(${name} OBJECT ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC ucxbench_flags ${arg_LINK})
  if(arg_COLD)
    ucxbench_precompile(${name} cold)
  else()
    ucxbench_precompile(${name} hot)
  endif()
endfunction()

# ucxbench_kernels(SOURCE …): their loops over arrays are what a workload's time consists of, and are
# some 15 % faster by -O3. Each is compiled by itself: GCC 12 takes its intrinsics' macros for those of
# another -O where they come behind a precompiled header.
function(ucxbench_kernels)
  set_source_files_properties(${ARGN} PROPERTIES
    SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON
    COMPILE_OPTIONS $<$<CONFIG:Release>:-O3>)
  ucxbench_loops(${ARGN})
endfunction()

# ucxbench_loops(SOURCE …): what the tests wait for where each step of a loop is several calls with
# checks, as with the sanitizers' -O0: there these have -O1, each by itself.
function(ucxbench_loops)
  if(UCXBENCH_SANITIZE)
    set_source_files_properties(${ARGN} PROPERTIES
      SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS -O1)
  endif()
endfunction()

# ucxbench_link(TARGET NAME …): links these folders and all that they link: object libraries do not
# pass their objects on.
function(ucxbench_link target)
  set(open ${ARGN})
  set(links "")
  while(open)
    list(POP_FRONT open name)
    if(name IN_LIST links)
      continue()
    endif()
    list(APPEND links ${name})
    if(TARGET ${name})
      get_target_property(type ${name} TYPE)
      if(type STREQUAL OBJECT_LIBRARY)
        get_target_property(more ${name} LINK_LIBRARIES)
        list(APPEND open ${more})
      endif()
    endif()
  endwhile()
  target_link_libraries(${target} PRIVATE ucxbench_flags ${links})
endfunction()

add_custom_target(unit_tests)

# ucxbench_test(NAME SOURCES … LINK … [LABELS …] [SHARDS count]): one GoogleTest executable, which is
# one test, or so many with a part of its cases each, labelled unit unless LABELS says multi-process,
# cli, fault, gpu, release-only or long. LINK names the folders that are tested. Unit tests take longer
# to compile than to run: a release build has them only by the target unit_tests, and by the label
# built-on-demand, unless they have another label too. The sanitizers' build always has them. What tries
# less there (every_for_test.hpp) is an executable of its own in a release build: NAME_trials.
# How each of its cases went is in cases/ of the build folder.
function(ucxbench_test name)
  if(NOT UCXBENCH_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SHARDS" "SOURCES;LINK;LABELS")
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(NOT arg_LABELS STREQUAL unit OR NOT CMAKE_BUILD_TYPE STREQUAL Release)
    ucxbench_test_program(${name} "${arg_SOURCES}" "${arg_LINK}" "${arg_LABELS}" "${arg_SHARDS}")
    return()
  endif()
  set(trials "")
  foreach(source IN LISTS arg_SOURCES)
    file(STRINGS ${source} tries_less REGEX every_for_test)
    if(tries_less)
      list(APPEND trials ${source})
    endif()
  endforeach()
  if(trials)
    list(REMOVE_ITEM arg_SOURCES ${trials})
    set(helpers ${arg_SOURCES})
    list(FILTER helpers EXCLUDE REGEX [[_test\.cpp$]])
    ucxbench_test_program(${name}_trials "${trials};${helpers}" "${arg_LINK}" "${arg_LABELS}" "")
  endif()
  ucxbench_test_program(${name} "${arg_SOURCES}" "${arg_LINK}" "${arg_LABELS};built-on-demand" "${arg_SHARDS}")
  set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  add_dependencies(unit_tests ${name})
endfunction()

# ucxbench_test_program(NAME SOURCES LINK LABELS SHARDS): for ucxbench_test.
function(ucxbench_test_program name sources link labels shards)
  add_executable(${name} ${sources})
  ucxbench_link(${name} ${link} GTest::gtest_main)
  ucxbench_precompile(${name} test)
  target_compile_definitions(${name} PRIVATE
    UCXBENCH_FIXTURES="${PROJECT_SOURCE_DIR}/harness/analysis/fixtures"
    UCXBENCH_ADVICE="${PROJECT_SOURCE_DIR}/harness/report/advice_expected")
  if(NOT shards)
    ucxbench_add_test(${name} ${name} "${labels}")
    return()
  endif()
  foreach(shard RANGE 1 ${shards})
    math(EXPR index "${shard} - 1")
    ucxbench_add_test(${name}.${shard} ${name} "${labels}"
      GTEST_TOTAL_SHARDS=${shards} GTEST_SHARD_INDEX=${index})
  endforeach()
endfunction()

# ucxbench_add_test(TEST TARGET LABELS [NAME=VALUE …]): runs a GoogleTest executable, in this
# environment. TIMEOUT ends what hangs: on a busy machine, with sanitizers, minutes are no sign of that.
function(ucxbench_add_test test target labels)
  add_test(NAME ${test} COMMAND ${target} --gtest_brief=1
                                --gtest_output=xml:${PROJECT_BINARY_DIR}/cases/${test}.xml)
  set_tests_properties(${test} PROPERTIES TIMEOUT 900 LABELS "${labels}" ENVIRONMENT "${ARGN}")
endfunction()

# ucxbench_add_pytest(TEST LABELS LIMIT COMMAND …): Python tests, by a script that ends with status 77 where
# all were skipped. How each of them went is in cases/, too. LIMIT ends what hangs, in seconds.
function(ucxbench_add_pytest test labels limit)
  add_test(NAME ${test} COMMAND ${ARGN})
  set_tests_properties(${test} PROPERTIES LABELS "${labels}" TIMEOUT ${limit} SKIP_RETURN_CODE 77
    ENVIRONMENT_MODIFICATION "PYTEST_ADDOPTS=set:--junitxml='${PROJECT_BINARY_DIR}/cases/${test}.xml'")
endfunction()

# ucxbench_benchmark(NAME SOURCES … [LINK …] [PARTS …] [TESTS …]): the folder of a
# benchmark, all that CMake has to know of it. LINK: libraries that several benchmarks use; PARTS:
# targets of its own beside NAME; TESTS: sources of NAME_test; the rest as for ucxbench_library. The
# program has every benchmark, by the global property UCXBENCH_BENCHMARKS.
function(ucxbench_benchmark name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK;PARTS;TESTS")
  ucxbench_library(${name} SOURCES ${arg_SOURCES} LINK run ${arg_LINK})
  get_property(all GLOBAL PROPERTY UCXBENCH_BENCHMARKS)
  list(APPEND all ${name} ${arg_PARTS})
  set_property(GLOBAL PROPERTY UCXBENCH_BENCHMARKS ${all})
  if(arg_TESTS)
    ucxbench_test(${name}_test SOURCES ${arg_TESTS} LINK ${name} ${arg_PARTS})
  endif()
endfunction()
