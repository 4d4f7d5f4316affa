# How well estimates of `fairlead when` hold (docs/ask.md).
add_executable(bench_when_calibration when_calibration.cc)
target_link_libraries(bench_when_calibration PRIVATE fairlead_process_ask fairlead_sim_traces)
