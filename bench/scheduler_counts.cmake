# Workloads whose instructions are counted: tests/instruction_counts.py.
add_executable(scheduler_counts scheduler_counts.cc)
target_link_libraries(scheduler_counts PRIVATE fairlead_sim_traces)
