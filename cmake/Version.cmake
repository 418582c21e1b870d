# ucxbench_build_info: the commit this tree is at, looked up on every build; only a change of it
# compiles the one generated file again. STATIC, so that it reaches programs through the object
# library that links it.
set(info_source ${PROJECT_BINARY_DIR}/generated/build_info.cpp)
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
set(info_flags "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}")
if(UCXBENCH_SANITIZE)
  string(APPEND info_flags " -fsanitize=${UCXBENCH_SANITIZE}")
endif()
string(STRIP "${info_flags}" info_flags)

add_custom_target(ucxbench_commit
  COMMAND ${CMAKE_COMMAND}
          -D SOURCE_DIR=${PROJECT_SOURCE_DIR}
          -D TEMPLATE=${PROJECT_SOURCE_DIR}/harness/core/build_info.cpp.in
          -D OUTPUT=${info_source}
          -D VERSION=${PROJECT_VERSION}
          -D "COMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
          -D "FLAGS=${info_flags}"
          -D BUILD_TYPE=${CMAKE_BUILD_TYPE}
          -P ${PROJECT_SOURCE_DIR}/cmake/WriteBuildInfo.cmake
  BYPRODUCTS ${info_source}
  COMMENT "Looking up the commit"
  VERBATIM)

add_library(ucxbench_build_info STATIC ${info_source})
target_link_libraries(ucxbench_build_info PUBLIC ucxbench_flags)
add_dependencies(ucxbench_build_info ucxbench_commit)
