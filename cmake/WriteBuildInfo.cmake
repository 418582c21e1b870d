# Run at build time (cmake -P): fills TEMPLATE into OUTPUT, which is touched only if it changes.
function(git result)
  # Of a clone that belongs to somebody else, too: whoever builds it trusts it.
  execute_process(COMMAND git --no-optional-locks -c safe.directory=${SOURCE_DIR} -C ${SOURCE_DIR} ${ARGN}
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    set(output "")
  endif()
  set(${result} "${output}" PARENT_SCOPE)
endfunction()

set(COMMIT unknown)
set(DIRTY false)
# An unpacked archive may lie inside somebody else's repository, whose commit would be a lie.
git(top_level rev-parse --show-toplevel)
file(REAL_PATH "${SOURCE_DIR}" source_dir)
if(top_level STREQUAL source_dir)
  git(head rev-parse --verify HEAD)
  if(head)
    set(COMMIT ${head})
    git(changes status --porcelain --untracked-files=no)
    if(changes)
      set(DIRTY true)
    endif()
  endif()
else()
  # What `git archive` puts there.
  file(STRINGS ${SOURCE_DIR}/cmake/archived-commit.txt archived REGEX "^[0-9a-f]+$")
  if(archived)
    set(COMMIT ${archived})
  endif()
endif()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
