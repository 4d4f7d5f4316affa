# Inputs of bench/engine.py.
add_executable(bench_engine_generate engine_generate.cc)
target_link_libraries(bench_engine_generate PRIVATE fairlead_base)
