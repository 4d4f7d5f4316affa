# The resource manager under load: bench/yarn.py runs it.
add_executable(bench_yarn_load yarn_load.cc)
target_link_libraries(bench_yarn_load PRIVATE fairlead_process_rpc fairlead_endpoints_yarn fairlead_env_posix fairlead_wire_yarn)
# Submissions a second: bench/failover.py runs it.
add_executable(bench_submit_load submit_load.cc)
target_link_libraries(bench_submit_load PRIVATE fairlead_process_rpc fairlead_env_posix fairlead_wire_yarn)
# Readers beside that load.
add_executable(bench_yarn_pollers yarn_pollers.cc)
target_link_libraries(bench_yarn_pollers PRIVATE fairlead_process_http fairlead_env_posix)
