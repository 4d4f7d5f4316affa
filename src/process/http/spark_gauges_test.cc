#include "process/http/spark_gauges.h"

#include <gtest/gtest.h>

namespace fairlead::process::http {
namespace {

TEST(SparkGauges, AreWrittenAsSparksServletWritesThem) {
  const Response response = SparkPrometheus({{"master.aliveWorkers", 2}, {"application.a \"b\"\n{c}.17.cores", -1}});
  EXPECT_EQ(response.content_type, "text/plain;charset=utf-8");
  EXPECT_EQ(response.body,
            "metrics_master_aliveWorkers_Number{type=\"gauges\"} 2\n"
            "metrics_master_aliveWorkers_Value{type=\"gauges\"} 2\n"
            "metrics_application_a__b___c__17_cores_Number{type=\"gauges\"} -1\n"
            "metrics_application_a__b___c__17_cores_Value{type=\"gauges\"} -1\n");
}

}  // namespace
}  // namespace fairlead::process::http
