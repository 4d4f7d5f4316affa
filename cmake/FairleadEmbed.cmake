# fairlead_embed(VARIABLE FUNCTION FILE...): a generated source that holds the files of web/ and finds them by name through FUNCTION
# ("fairlead::process::rm::FindWebFile"); its path is put into VARIABLE.
function(fairlead_embed variable function)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${variable}.cc)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/web/)
  add_custom_command(OUTPUT ${out}
    COMMAND ${FAIRLEAD_PYTHON} ${PROJECT_SOURCE_DIR}/tools/embed.py ${out} ${function} ${ARGN}
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/tools/embed.py VERBATIM)
  set(${variable} ${out} PARENT_SCOPE)
endfunction()
