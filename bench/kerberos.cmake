# What Kerberos' cipher takes for the bytes of one call: bench/protection.py runs it.
add_executable(bench_cipher_cost cipher_cost.cc)
target_link_libraries(bench_cipher_cost PRIVATE fairlead_env_kerberos fairlead_env_posix)
