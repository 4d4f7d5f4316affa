# What `cmake --install` gives: component `engine` (one static library, headers, a CMake package and a pkg-config file),
# component `programs` (the fairlead binary) and component `examples` (jobs). The files name each other by relative paths, so a
# prefix may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The engine's modules and those below them, each once.
function(fairlead_modules_below target out)
  set(found ${${out}})
  if(NOT target IN_LIST found)
    get_target_property(type ${target} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
      list(APPEND found ${target})
    endif()
    get_target_property(below ${target} INTERFACE_LINK_LIBRARIES)
    foreach(other IN LISTS below)
      if(other MATCHES "^fairlead_" AND NOT other STREQUAL "fairlead_options")
        fairlead_modules_below(${other} found)
      endif()
    endforeach()
  endif()
  set(${out} ${found} PARENT_SCOPE)
endfunction()
set(modules)
fairlead_modules_below(fairlead_engine modules)

# One archive of them, so that a job links one library.
set(archive ${PROJECT_BINARY_DIR}/${CMAKE_STATIC_LIBRARY_PREFIX}fairlead_engine_whole${CMAKE_STATIC_LIBRARY_SUFFIX})
set(script "create ${archive}\n")
foreach(module IN LISTS modules)
  string(APPEND script "addlib $<TARGET_FILE:${module}>\n")
endforeach()
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/fairlead_engine_whole.mri CONTENT "${script}save\nend\n")
add_custom_command(OUTPUT ${archive}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
  COMMAND sh -c "\"$0\" -M < \"$1\"" ${CMAKE_AR} ${PROJECT_BINARY_DIR}/fairlead_engine_whole.mri
  DEPENDS ${modules} ${PROJECT_BINARY_DIR}/fairlead_engine_whole.mri
  COMMENT "One library of the engine's modules" VERBATIM)
add_custom_target(fairlead_engine_whole ALL DEPENDS ${archive})

install(FILES ${archive} DESTINATION ${CMAKE_INSTALL_LIBDIR} RENAME libfairlead_engine.a COMPONENT engine)
install(FILES ${PROJECT_SOURCE_DIR}/src/fairlead/engine.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fairlead
  COMPONENT engine)
# The folders whose headers <fairlead/engine.h> includes.
foreach(folder IN ITEMS base engine/records engine/plan engine/io engine/shuffle engine/kernels engine/api)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/${folder}/
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fairlead/internal/${folder} COMPONENT engine FILES_MATCHING PATTERN "*.h")
endforeach()

set(cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Fairlead)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/FairleadConfig.cmake.in
  ${PROJECT_BINARY_DIR}/FairleadConfig.cmake INSTALL_DESTINATION ${cmake_folder}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/FairleadConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/FairleadConfig.cmake ${PROJECT_BINARY_DIR}/FairleadConfigVersion.cmake
  DESTINATION ${cmake_folder} COMPONENT engine)

# The component parquet is installed as sources, which a job compiles against the Arrow that it has.
install(FILES ${CMAKE_CURRENT_LIST_DIR}/FairleadArrow.cmake DESTINATION ${cmake_folder} COMPONENT engine)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/engine/parquet DESTINATION ${cmake_folder}/parquet/engine COMPONENT engine
  FILES_MATCHING PATTERN "*.h" PATTERN "*.cc" PATTERN "*_test.cc" EXCLUDE)

file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/fairlead-engine.pc.in ${PROJECT_BINARY_DIR}/fairlead-engine.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/fairlead-engine.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT engine)
install(TARGETS fairlead RUNTIME COMPONENT programs)
install(TARGETS ${FAIRLEAD_EXAMPLES} RUNTIME DESTINATION lib/fairlead/examples COMPONENT examples)
