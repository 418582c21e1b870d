# Kernels are compiled by nvcc into a fat binary that is part of the program, and launched through
# the driver that is found at run time. CMake's own CUDA language would link the runtime.
find_package(CUDAToolkit QUIET)
if(UCXBENCH_CUDA AND NOT CUDAToolkit_NVCC_EXECUTABLE)
  message(FATAL_ERROR "UCXBENCH_CUDA is ON (as in the preset gpu), but there is no CUDA toolkit: "
                      "put its nvcc on the PATH or give -DCUDAToolkit_ROOT=DIRECTORY.")
endif()

set(UCXBENCH_CUDA_ARCHITECTURES all-major CACHE STRING
    "nvcc's -arch: newer GPUs than those take the newest one's PTX")

# ucxbench_cuda_image(TARGET NAME SOURCE): TARGET defines `extern "C" const unsigned char NAME[]`, the
# kernels of SOURCE for UCXBENCH_CUDA_ARCHITECTURES (all major ones that the toolkit knows), and newer ones. Not
# compressed, so that their names can be looked for in it.
function(ucxbench_cuda_image target name source)
  set(image ${CMAKE_CURRENT_BINARY_DIR}/${name})
  add_custom_command(
    OUTPUT ${image}.fatbin
    COMMAND ${CUDAToolkit_NVCC_EXECUTABLE} -fatbin -std=c++20 -arch=${UCXBENCH_CUDA_ARCHITECTURES} -no-compress
            -ccbin ${CMAKE_CXX_COMPILER} -Werror all-warnings -I ${PROJECT_SOURCE_DIR}
            -DCCCL_DISABLE_FP16_SUPPORT  # no half: CUB's headers in three quarters of the time
            -MD -MT ${image}.fatbin -MF ${image}.d
            -o ${image}.fatbin ${CMAKE_CURRENT_SOURCE_DIR}/${source}
    DEPENDS ${source}
    DEPFILE ${image}.d
    COMMENT "Compiling ${source} for GPUs"
    VERBATIM)
  file(CONFIGURE OUTPUT ${image}.cpp @ONLY CONTENT [[
asm(".pushsection .rodata\n"
    ".balign 16\n"
    ".globl @name@\n"
    "@name@:\n"
    ".incbin \"@image@.fatbin\"\n"
    ".popsection\n");
]])
  set_source_files_properties(${image}.cpp PROPERTIES OBJECT_DEPENDS ${image}.fatbin)
  target_sources(${target} PRIVATE ${image}.cpp)
endfunction()

# ucxbench_cuda_kernels(WORKLOAD): the target WORKLOAD_cuda, of the folder's cuda_kernels.cpp and
# cuda_kernels.cu, or of what says that there is no nvcc. Apart from the workload, since the tests on
# the emulated driver take cuda_kernels.cpp without an nvcc too.
function(ucxbench_cuda_kernels workload)
  if(CUDAToolkit_NVCC_EXECUTABLE)
    ucxbench_library(${workload}_cuda SOURCES cuda_kernels.cpp LINK workload)
    ucxbench_cuda_image(${workload}_cuda ${workload}_kernels cuda_kernels.cu)
  else()
    set(none ${CMAKE_CURRENT_BINARY_DIR}/no_cuda_kernels.cpp)
    configure_file(${PROJECT_SOURCE_DIR}/workloads/common/no_cuda_kernels.cpp.in ${none} @ONLY)
    ucxbench_library(${workload}_cuda SOURCES ${none} LINK workload)
  endif()
  ucxbench_test(${workload}_cuda_test SOURCES cuda_kernels_test.cpp
                                      LINK ${workload} ${workload}_cuda LABELS gpu)
endfunction()
