# fairlead_module(NAME dir_name
#   SRCS a.cc b.cc            sources; headers need not be listed
#   DEPS base model           Fairlead modules whose headers this one includes (public)
#   LIBS OpenSSL::Crypto      outside libraries (private)
#   TESTS a_test.cc           GoogleTest sources, one executable NAME_test, one ctest entry
#   TEST_DEPS x TEST_LIBS y   what only the tests need
#   BENCHES a_bench.cc        Google Benchmark sources, one executable NAME_bench
#   FUZZ a_fuzz.cc)           one libFuzzer executable per file, NAME_a_fuzz
# The library is fairlead_NAME. A module without sources is an interface library.
add_custom_target(layers ALL
  COMMAND ${FAIRLEAD_PYTHON} ${PROJECT_SOURCE_DIR}/tools/layers.py --root ${PROJECT_SOURCE_DIR}
  COMMENT "Checking which folder includes which" VERBATIM)

add_custom_target(unit_tests)
add_custom_target(fuzzers)

function(fairlead_module)
  cmake_parse_arguments(M "" "NAME" "SRCS;DEPS;LIBS;TESTS;TEST_DEPS;TEST_LIBS;BENCHES;BENCH_DEPS;BENCH_LIBS;FUZZ" ${ARGN})
  set(lib fairlead_${M_NAME})
  list(TRANSFORM M_DEPS PREPEND fairlead_)
  list(TRANSFORM M_TEST_DEPS PREPEND fairlead_)
  list(TRANSFORM M_BENCH_DEPS PREPEND fairlead_)
  if(M_SRCS)
    add_library(${lib} STATIC ${M_SRCS})
    target_link_libraries(${lib} PUBLIC fairlead_options ${M_DEPS} PRIVATE ${M_LIBS})
    add_dependencies(${lib} layers)
    fairlead_precompile(${lib} ${M_NAME})
    fairlead_compile_together(${lib} ${M_SRCS})
    fairlead_optimize_computing(${lib} ${M_NAME})
  else()
    add_library(${lib} INTERFACE)
    target_link_libraries(${lib} INTERFACE fairlead_options ${M_DEPS})
  endif()
  if(M_TESTS AND FAIRLEAD_TESTS)
    add_executable(${M_NAME}_test ${M_TESTS})
    target_link_libraries(${M_NAME}_test PRIVATE ${lib} ${M_TEST_DEPS} ${M_LIBS} ${M_TEST_LIBS} GTest::gmock GTest::gtest_main)
    if(CMAKE_BUILD_TYPE STREQUAL "Release")
      target_compile_options(${M_NAME}_test PRIVATE -Og)  # a third less to compile; what is tested keeps its own options
    endif()
    # Only those that read files of the tree know where it lies, so that the compiler's cache serves all clones.
    foreach(source IN LISTS M_TESTS)
      file(STRINGS ${source} reads_files REGEX "FAIRLEAD_SOURCE_DIR|golden_test_util")
      if(reads_files)
        set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS FAIRLEAD_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
      endif()
    endforeach()
    fairlead_precompile(${M_NAME}_test ${M_NAME} TEST)
    fairlead_compile_together(${M_NAME}_test ${M_TESTS})
    add_dependencies(unit_tests ${M_NAME}_test)
    add_test(NAME ${M_NAME} COMMAND ${M_NAME}_test)
    set_tests_properties(${M_NAME} PROPERTIES LABELS "fast;unit" TIMEOUT ${FAIRLEAD_TEST_SECONDS})
  endif()
  if(M_BENCHES AND FAIRLEAD_BENCHES)
    add_executable(${M_NAME}_bench ${M_BENCHES})
    target_link_libraries(${M_NAME}_bench PRIVATE ${lib} ${M_BENCH_DEPS} ${M_LIBS} ${M_BENCH_LIBS} benchmark::benchmark_main)
  endif()
  if(M_FUZZ AND FAIRLEAD_FUZZ)
    foreach(source IN LISTS M_FUZZ)
      get_filename_component(fuzz_file ${source} NAME_WE)
      set(fuzz_name ${M_NAME}_${fuzz_file})  # file names repeat from module to module
      add_executable(${fuzz_name} ${source})
      target_link_libraries(${fuzz_name} PRIVATE ${lib} ${M_LIBS} -fsanitize=fuzzer)
      set_target_properties(${fuzz_name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzzers)
      add_dependencies(fuzzers ${fuzz_name})
    endforeach()
  endif()
endfunction()
