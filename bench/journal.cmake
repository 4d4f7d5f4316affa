# A resource manager's journal of a large cluster, written and read (docs/past.md), with the daemon's allocator.
find_library(JEMALLOC jemalloc REQUIRED)
add_executable(bench_journal journal.cc)
target_link_libraries(bench_journal PRIVATE fairlead_shell_rm ${JEMALLOC})
