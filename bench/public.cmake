# Computes the sets of bench/public.py that are too much for an interpreter.
add_executable(bench_public_sets public_sets.cc yarn_fair_gangs.cc)
target_link_libraries(bench_public_sets PRIVATE fairlead_sim_devices fairlead_sim_executors fairlead_sim_rigid fairlead_scheduler_yarn_fair)
