# A resource manager's journal of a large cluster, written and read (docs/performance.md).
add_executable(bench_journal journal.cc)
target_link_libraries(bench_journal PRIVATE fairlead_shell_rm)
