# Many Workers and applications at a Standalone Master.
find_package(nlohmann_json REQUIRED)
add_executable(bench_standalone_load standalone_load.cc)
target_link_libraries(bench_standalone_load PRIVATE fairlead_shell_spark_master nlohmann_json::nlohmann_json)
