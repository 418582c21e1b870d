# cmake -P: installs BINARY_DIR into PREFIX; the installed program must start and be this build, and
# the installed scripts must find all their parts.
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BINARY_DIR} --prefix ${PREFIX}
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
foreach(program ${BINARY_DIR}/bin/ucx-bench ${PREFIX}/bin/ucx-bench)
  execute_process(COMMAND ${program} --version OUTPUT_VARIABLE version
                  COMMAND_ERROR_IS_FATAL ANY)
  list(APPEND versions "${version}")
endforeach()
list(REMOVE_DUPLICATES versions)
list(LENGTH versions count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "The installed program says another --version than the built one: ${versions}")
endif()
file(GLOB installed ${PREFIX}/share/ucx-bench/scripts/*.py)
if(NOT installed)
  message(FATAL_ERROR "No Python below ${PREFIX}/share/ucx-bench/scripts")
endif()
find_program(python python3)
if(python)
  execute_process(COMMAND ${python} ${PREFIX}/share/ucx-bench/scripts/plot.py --help
                  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endif()
file(REMOVE_RECURSE ${PREFIX})
