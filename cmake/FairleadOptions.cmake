# Compiler settings shared by every target, as one interface target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")

set(FAIRLEAD_SANITIZE "" CACHE STRING "sanitizers, as -fsanitize takes them")
option(FAIRLEAD_FUZZ "build the libFuzzer targets (clang)" OFF)
option(FAIRLEAD_TESTS "build tests" ${PROJECT_IS_TOP_LEVEL})
option(FAIRLEAD_BENCHES "build benchmarks" ${PROJECT_IS_TOP_LEVEL})

add_library(fairlead_options INTERFACE)
# No contraction: the yarn-fair profile repeats Java's float and double arithmetic operation by operation.
set(warnings -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Werror)
set(system)
if(NOT PROJECT_IS_TOP_LEVEL)
  set(warnings)       # another project's targets would inherit them,
  set(system SYSTEM)  # and look at these headers by rules of its own
endif()
target_include_directories(fairlead_options ${system} INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_features(fairlead_options INTERFACE cxx_std_20)
target_compile_options(fairlead_options INTERFACE ${warnings} -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND warnings)
  # g++ 12 reports these on inlined standard containers where nothing is wrong (GCC bugs 105329, 105651, 107852).
  target_compile_options(fairlead_options INTERFACE
    -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds -Wno-stringop-overread
    -Wno-dangling-pointer -Wno-free-nonheap-object)
endif()
if(FAIRLEAD_SANITIZE)
  target_compile_options(fairlead_options INTERFACE
    -fsanitize=${FAIRLEAD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(fairlead_options INTERFACE -fsanitize=${FAIRLEAD_SANITIZE})
endif()
if(FAIRLEAD_SANITIZE MATCHES "address")
  set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")  # compiles in half the time of -O1; tests/sanitized_by_command.txt has what runs too long then
endif()
if(FAIRLEAD_SANITIZE STREQUAL "thread")
  # The thread sanitizer does not see fences. Asio has them around handlers beside its locks, which order enough.
  target_compile_definitions(fairlead_options INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK)
endif()
set(FAIRLEAD_TEST_SECONDS 300)
if(FAIRLEAD_SANITIZE)
  set(FAIRLEAD_TEST_SECONDS 900)
endif()
if(FAIRLEAD_FUZZ)
  target_compile_options(fairlead_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/cmake/cached.sh ${CCACHE} ${PROJECT_SOURCE_DIR})
else()
  add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=../)  # as the cache does: no path of this tree in what is made
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()
find_package(Threads REQUIRED)
if(FAIRLEAD_TESTS)
  find_package(GTest REQUIRED)
endif()
if(FAIRLEAD_BENCHES)
  find_package(benchmark REQUIRED)
endif()
set(FAIRLEAD_PYTHON /usr/bin/python3)
