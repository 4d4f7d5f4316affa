# Inputs of bench/engine.py.
add_executable(bench_engine_generate engine_generate.cc)
target_link_libraries(bench_engine_generate PRIVATE fairlead_base)
# The job of bench/tasks.py.
add_executable(bench_engine_tasks engine_tasks.cc)
target_link_libraries(bench_engine_tasks PRIVATE fairlead_engine)
target_link_options(bench_engine_tasks PRIVATE -s)
# The join of bench/engine.py.
add_executable(bench_engine_join engine_join.cc)
target_link_libraries(bench_engine_join PRIVATE fairlead_engine)
target_link_options(bench_engine_join PRIVATE -s)
# The job of bench/overload.py.
add_executable(bench_overload_job overload_job.cc)
target_link_libraries(bench_overload_job PRIVATE fairlead_engine)
target_link_options(bench_overload_job PRIVATE -s)
