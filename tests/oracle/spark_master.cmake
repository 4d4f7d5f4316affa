# Spark's Standalone master: oracle_spark_master DIR [--version V].
add_executable(oracle_spark_master spark_master_main.cc spark_master.cc)
target_link_libraries(oracle_spark_master PRIVATE oracle_jsonl_runner fairlead_scheduler)
if(FAIRLEAD_TESTS)
  add_executable(oracle_spark_master_test spark_master_test.cc spark_master.cc)
  target_link_libraries(oracle_spark_master_test PRIVATE fairlead_scheduler GTest::gtest_main)
  target_include_directories(oracle_spark_master_test PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  add_test(NAME oracle_spark_master_changed COMMAND oracle_spark_master_test)
  add_test(NAME oracle_spark_master COMMAND oracle_spark_master ${CMAKE_SOURCE_DIR}/tests/oracles/spark-master)
  # The same two scenarios in two runs of the recorder, which differ in the order of a lost worker's drivers.
  add_test(NAME oracle_spark_master_lost_drivers
           COMMAND oracle_spark_master ${CMAKE_SOURCE_DIR}/tests/oracles/spark-master-extra)
  set_tests_properties(oracle_spark_master_lost_drivers PROPERTIES PASS_REGULAR_EXPRESSION
                       "taken from the recording: 2 times\n4 passed, 0 failed" FAIL_REGULAR_EXPRESSION "recorded:")
  set_tests_properties(oracle_spark_master oracle_spark_master_lost_drivers oracle_spark_master_changed PROPERTIES LABELS fast TIMEOUT 300)
endif()
