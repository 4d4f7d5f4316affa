#include "process/http/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/version.h"
#include "process/http/own_process.h"

namespace fairlead::process::http {
namespace {

using testing::HasSubstr;

TEST(Metrics, BucketsCountWhatIsAtMostTheirBound) {
  Histogram histogram;
  histogram.Add(base::Duration::Nanos(10'000));
  histogram.Add(base::Duration::Millis(2));
  histogram.Add(base::Duration::Seconds(60));
  MetricsText metrics("fairlead_");
  metrics.Seconds("x_seconds", "How long x took", histogram);
  EXPECT_THAT(metrics.text(),
              HasSubstr("# HELP fairlead_x_seconds How long x took\n# TYPE fairlead_x_seconds histogram\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("fairlead_x_seconds_bucket{le=\"1e-05\"} 1\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("fairlead_x_seconds_bucket{le=\"0.001\"} 1\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("fairlead_x_seconds_bucket{le=\"0.003\"} 2\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("fairlead_x_seconds_bucket{le=\"10\"} 2\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("fairlead_x_seconds_bucket{le=\"+Inf\"} 3\nfairlead_x_seconds_sum 60.00201\n"
                                        "fairlead_x_seconds_count 3\n"));
}

TEST(Metrics, AStrangersWordIsALabelAndNothingElse) {
  MetricsText metrics("fairlead_");
  metrics.Gauges("used", "Use", "queue", {{"root.a\"} 7\nforged 1", -3}});
  EXPECT_EQ(metrics.text().find("\nforged"), std::string::npos);
  EXPECT_THAT(metrics.text(), HasSubstr("\\\"} 7"));
  EXPECT_THAT(metrics.text(), HasSubstr("\"} -3\n"));
}

TEST(Metrics, TheProcessIsShownOnceMainHasSaidHow) {
  EXPECT_EQ(MetricsText("fairlead_").ToResponse().body.find("process_"), std::string::npos);
  SetOwnProcess([] { return env::OwnProcess{1.5, 1.7e9, 4096, 8192, 3, 7, 1024}; });
  const std::string text = MetricsText("fairlead_").ToResponse().body;
  EXPECT_THAT(text, HasSubstr(std::string("fairlead_build_info{version=\"") + base::Version() + "\"} 1\n"));
  SetOwnProcess(nullptr);
  EXPECT_THAT(text, HasSubstr("# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total 1.50\n"));
  EXPECT_THAT(text, HasSubstr("\nprocess_start_time_seconds 1700000000.00\n"));
  EXPECT_THAT(text, HasSubstr("\nprocess_resident_memory_bytes 4096\n"));
  EXPECT_THAT(text, HasSubstr("\nprocess_open_fds 7\n"));
}

}  // namespace
}  // namespace fairlead::process::http
