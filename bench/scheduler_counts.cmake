# Workloads whose instructions are counted: tests/instruction_counts.py.
add_executable(scheduler_counts scheduler_counts.cc)
target_link_libraries(scheduler_counts PRIVATE fairlead_sim_traces)
# Rigid jobs with known or wrong run times: bench/public.py.
add_executable(bench_rigid_jobs rigid_jobs.cc)
target_link_libraries(bench_rigid_jobs PRIVATE fairlead_scheduler)
