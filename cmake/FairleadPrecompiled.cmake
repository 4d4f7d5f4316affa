# Headers that most sources of a module include are parsed once a module (release build). Presets debug and tsan, and tools/tidy, read every source
# with its own includes alone: there a missing one is found.
option(FAIRLEAD_PRECOMPILED "precompile headers" OFF)

set(standard_headers
    <algorithm> <array> <cstdint> <cstring> <functional> <map> <memory> <optional> <set> <span> <string> <string_view> <tuple> <unordered_map>
    <utility> <variant> <vector>)
# Whoever has no row of its own shares one header of the standard library's.
set(precompiled_scheduler <scheduler/books/core.h>)
set(precompiled_scheduler_yarn_fair <scheduler/yarn_fair/books.h>)
set(precompiled_rm <rm/core.h>)
set(precompiled_process_rm <process/rm/resource_manager.h>)
set(precompiled_process_nm <process/nm/node_manager.h>)
set(precompiled_process_spark_master <process/spark_master/standalone_cluster.h>)
set(precompiled_process_spark_worker <process/spark_worker/spark_worker.h>)
set(precompiled_sim_cluster <sim/cluster/cluster.h>)
set(precompiled_engine <engine/plan/operators.h> <process/executor/executor_core.h>)
set(precompiled_fairlead <CLI/CLI.hpp> <nlohmann/json.hpp>)

# One for all that have no row, one for their tests.
function(fairlead_shared_precompiled name)
  if(NOT TARGET ${name})
    file(WRITE ${PROJECT_BINARY_DIR}/${name}.cc "")
    add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/${name}.cc)
    target_link_libraries(${name} PRIVATE fairlead_options ${ARGN})
    target_precompile_headers(${name} PRIVATE ${standard_headers})
  endif()
endfunction()

# fairlead_precompile(TARGET MODULE [TEST])
function(fairlead_precompile target module)
  if(NOT FAIRLEAD_PRECOMPILED)
    return()
  endif()
  set(test_headers)
  if("TEST" IN_LIST ARGN)
    set(test_headers <gmock/gmock.h> <gtest/gtest.h>)
  endif()
  if(DEFINED precompiled_${module})
    target_precompile_headers(${target} PRIVATE ${standard_headers} ${test_headers} ${precompiled_${module}})
  elseif(test_headers)
    fairlead_shared_precompiled(fairlead_precompiled_tests GTest::gmock)
    target_precompile_headers(fairlead_precompiled_tests PRIVATE ${test_headers})
    target_precompile_headers(${target} REUSE_FROM fairlead_precompiled_tests)
  else()
    fairlead_shared_precompiled(fairlead_precompiled)
    target_precompile_headers(${target} REUSE_FROM fairlead_precompiled)
  endif()
endfunction()
