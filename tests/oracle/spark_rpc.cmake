# Spark's RPC between drivers and a Standalone Master.
if(FAIRLEAD_TESTS)
  add_executable(oracle_spark_rpc_test spark_rpc_test.cc spark_rpc_recording.cc)
  target_include_directories(oracle_spark_rpc_test PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(oracle_spark_rpc_test PRIVATE fairlead_endpoints_spark fairlead_wire_spark_transport nlohmann_json::nlohmann_json ZLIB::ZLIB
    GTest::gtest_main)
  target_compile_definitions(oracle_spark_rpc_test PRIVATE FAIRLEAD_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  add_test(NAME oracle_spark_rpc COMMAND oracle_spark_rpc_test)
  add_executable(oracle_spark_driver_test spark_driver_test.cc spark_rpc_recording.cc)
  target_include_directories(oracle_spark_driver_test PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(oracle_spark_driver_test PRIVATE fairlead_process_spark_master fairlead_process_rm
    fairlead_env_sim nlohmann_json::nlohmann_json ZLIB::ZLIB GTest::gmock GTest::gtest_main)
  target_compile_definitions(oracle_spark_driver_test PRIVATE FAIRLEAD_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  add_test(NAME oracle_spark_driver COMMAND oracle_spark_driver_test)
  set_tests_properties(oracle_spark_rpc oracle_spark_driver PROPERTIES LABELS fast TIMEOUT 120)
endif()
