#pragma once

#include <string>

#include "endpoints/spark/submission_messages.h"
#include "process/spark_master/executor_source.h"

namespace fairlead::process::spark_master {

class StandaloneCluster;

/// What a master in standby answers (org.apache.spark.deploy.master.Master): spark-submit goes on to the next of its
/// masters by how this begins. `what`: "kill drivers".
std::string OnlyWhenAlive(const char* what);

/// One question of spark-submit's client about drivers on workers.
struct SubmissionCall {
  Peers::PeerId peer;
  int64_t request;
  const spark_rpc::Incoming& came;
  const endpoints::spark::SubmissionMessage& message;
};
/// Answers it by the cluster's own functions, now or once the driver is stored (Master.receiveAndReply).
void AnswerSubmission(StandaloneCluster& cluster, const ExecutorSource::Master& master,
                      const endpoints::spark::SparkBuild& build, const SubmissionCall& call);

}  // namespace fairlead::process::spark_master
