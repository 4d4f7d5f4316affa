# The sanitizers' build compiles several sources of a module as one, which halves it. These have a name in common with a neighbour, which nothing but
# that build sees; they are compiled alone.
set(FAIRLEAD_COMPILED_ALONE
    src/base/stored_test.cc src/base/state_test.cc
    src/config/allocation_edit.cc src/config/allocation_resources.cc src/config/hadoop_conf.cc src/config/yaml_edit_test.cc
    src/config/fairlead_yaml_test.cc
    src/endpoints/spark/worker_messages.cc src/endpoints/spark/worker_use.cc src/endpoints/yarn/nm_messages.cc
    src/engine/driver/driver_page.cc src/engine/kernels/kernels_test.cc src/engine/api/views_test.cc src/engine/api/engine_test.cc
    src/env_posix/host_names.cc src/env_posix/posix_net.cc src/env_posix/posix_process.cc src/env_posix/posix_disk.cc src/env_posix/peer_user.cc
    src/env_posix/private_dir.cc
    src/env_zookeeper/store.cc
    src/model/wishes_test.cc src/nm/container_test.cc src/nm/nm_test.cc src/nm/resource_cache_test.cc
    src/process/driver/lost_work_test.cc src/process/http/known_hosts.cc src/process/nm/launcher.cc
    src/process/spark_master/create_request.cc src/process/spark_master/store_writer.cc src/process/spark_master/yarn_application.cc
    src/profiles/fairlead.cc src/profiles/spark_standalone.cc src/profiles/tdw.cc src/profiles/yarn_capacity.cc src/profiles/yarn_fair.cc
    src/rm/running_containers_test.cc
    src/scheduler/fairlead/use_forecast.cc src/scheduler/fairlead/use_learner.cc src/scheduler/shared/water_fill.cc
    src/scheduler/hadoop/calculator.cc src/scheduler/hadoop/calculator_test.cc src/scheduler/tdw/session_ranks_test.cc src/scheduler/tdw/tdw_test.cc src/scheduler/fairlead/state_hash_test.cc
    src/scheduler/yarn_fair/queues.cc
    src/shell/nm/directory_info.cc src/shell/nm/localizer_archive.cc src/shell/nm/log_aggregation.cc src/shell/nm/supervised_containers.cc
    src/shell/nm/supervisor.cc src/shell/rm/replay.cc src/shell/spark/master_daemon.cc src/shell/spark/worker_daemon.cc
    src/shell/spark/standalone_settings.cc
    src/sim/cluster/client.cc src/sim/standalone/driver.cc src/sim/standalone/standalone_faults.cc src/sim/traces/rm.cc
    src/tasks/tasks_test.cc
    src/wire/java_stream/class_file_test.cc src/wire/spark_transport/auth.cc src/wire/spark_transport/sasl.cc src/wire/yarn/descriptors_test.cc)

# Their tests and fuzz targets compute: with optimization they run several times as often, which is worth the longer compilation.
set(FAIRLEAD_COMPUTES base model scheduler scheduler_hadoop scheduler_yarn_fair scheduler_yarn_capacity rm sim_traces)

# fairlead_optimize_computing(TARGET MODULE)
function(fairlead_optimize_computing target module)
  if(CMAKE_UNITY_BUILD AND module IN_LIST FAIRLEAD_COMPUTES)
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# fairlead_compile_together(TARGET SOURCE...)
function(fairlead_compile_together target)
  if(CMAKE_UNITY_BUILD)
    foreach(source IN LISTS ARGN)
      cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE absolute)
      cmake_path(RELATIVE_PATH absolute BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE relative)
      if(relative IN_LIST FAIRLEAD_COMPILED_ALONE)
        set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      endif()
    endforeach()
  endif()
endfunction()
