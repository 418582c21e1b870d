add_library(ucxbench_flags INTERFACE)
target_compile_features(ucxbench_flags INTERFACE cxx_std_20)
target_compile_options(ucxbench_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Werror)
# Nothing becomes a value by itself: what it might become is looked for in each call that takes JSON, a
# tenth of the front end's time.
target_compile_definitions(ucxbench_flags INTERFACE JSON_USE_IMPLICIT_CONVERSIONS=0)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # Up to 1 GiB (in KiB) it does not look for memory to use again: a sixth of its time.
  target_compile_options(ucxbench_flags INTERFACE --param=ggc-min-heapsize=1048576)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms on std::string at -O3 (GCC bug 105651).
  target_compile_options(ucxbench_flags INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  # False alarms where a function takes a temporary string beside what it returns a reference into.
  target_compile_options(ucxbench_flags INTERFACE -Wno-dangling-reference)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  # std::ranges::stable_sort of libstdc++ 12 calls what it has itself deprecated; GCC's warnings and
  # attributes.
  target_compile_options(ucxbench_flags INTERFACE -Wno-deprecated-declarations
                                                  -Wno-unknown-warning-option -Wno-ignored-attributes)
  if(CMAKE_UNITY_BUILD)
    # Files that are compiled as one hide each other's names.
    target_compile_options(ucxbench_flags INTERFACE -Wno-shadow)
  endif()
endif()
target_include_directories(ucxbench_flags INTERFACE ${PROJECT_SOURCE_DIR})
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

# LLVM's linker, where it is installed: a fifth of the time of GNU's, for each of some forty programs. -B:
# GCC takes no other name than ld.lld.
find_program(UCXBENCH_LLD NAMES ld.lld-19 ld.lld)
if(UCXBENCH_LLD)
  file(REAL_PATH ${UCXBENCH_LLD} lld)
  cmake_path(GET lld PARENT_PATH directory)
  target_link_options(ucxbench_flags INTERFACE -fuse-ld=lld -B${directory})
endif()

if(UCXBENCH_SANITIZE)
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang AND UCXBENCH_SANITIZE MATCHES address)
    # As GCC says it, and Clang from 22 on.
    target_compile_definitions(ucxbench_flags INTERFACE __SANITIZE_ADDRESS__)
  endif()
  target_compile_options(ucxbench_flags INTERFACE -fsanitize=${UCXBENCH_SANITIZE}
                                                  -fno-omit-frame-pointer
                                                  -fno-sanitize-recover=all)
  if(UCXBENCH_SANITIZE MATCHES undefined)
    # Half of what the checks add to the code: the address sanitizer stops at a null pointer too, and
    # only what is hot (Target.cmake) takes bytes for numbers. Behind -fsanitize, or it does nothing.
    target_compile_options(ucxbench_flags INTERFACE
      -fno-sanitize=null
      $<$<NOT:$<STREQUAL:$<TARGET_PROPERTY:UCXBENCH_KIND>,hot>>:-fno-sanitize=alignment>)
  endif()
  target_link_options(ucxbench_flags INTERFACE -fsanitize=${UCXBENCH_SANITIZE})
  if(UCXBENCH_SANITIZE MATCHES address)
    # Else each start relocates a million places where a check says its line.
    target_link_options(ucxbench_flags INTERFACE
                        $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # The added checks hide initializations from it: false alarms inside <regex> and <functional>.
    target_compile_options(ucxbench_flags INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
