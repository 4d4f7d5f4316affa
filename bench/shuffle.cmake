# The shuffle service against Spark's own: bench/shuffle.py runs both with the same client.
add_executable(bench_shuffle_client shuffle_client.cc)
target_link_libraries(bench_shuffle_client PRIVATE fairlead_wire_spark_shuffle)
add_executable(bench_sendfile_probe sendfile_probe.cc)
target_link_libraries(bench_sendfile_probe PRIVATE fairlead_wire_spark_shuffle)
add_executable(bench_http_range_client http_range_client.cc)
target_link_libraries(bench_http_range_client PRIVATE fairlead_options)
