# fairlead_embed(VARIABLE FUNCTION [NAME=]FILE...): a generated source that holds the files of web/ and finds them by name through FUNCTION
# ("fairlead::process::rm::FindWebFile"); its path is put into VARIABLE.
function(fairlead_embed variable function)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${variable}.cc)
  set(words "")
  set(files "")
  foreach(word IN LISTS ARGN)
    string(REGEX MATCH "^([^=]*=)?(.*)$" whole "${word}")
    list(APPEND words "${CMAKE_MATCH_1}${PROJECT_SOURCE_DIR}/web/${CMAKE_MATCH_2}")
    list(APPEND files "${PROJECT_SOURCE_DIR}/web/${CMAKE_MATCH_2}")
  endforeach()
  add_custom_command(OUTPUT ${out}
    COMMAND ${FAIRLEAD_PYTHON} ${PROJECT_SOURCE_DIR}/tools/embed.py ${out} ${function} ${PROJECT_VERSION} ${words}
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/tools/embed.py VERBATIM)
  # Two of them in one unit would say the same names.
  set_source_files_properties(${out} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set(${variable} ${out} PARENT_SCOPE)
endfunction()
