#pragma once

#include <functional>
#include <optional>
#include <string>

#include "model/rm.h"
#include "wire/hadoop_rpc/security.h"
#include "wire/yarn/client.h"
#include "wire/yarn/master.h"
#include "wire/yarn/tracker.h"

// Effects of the rm core -> responses. Fields that Java clients read without checking are always set (application
// report states, maximum capability, queue, response ids, cluster size).

namespace fairlead::endpoints::yarn {

using wire::hadoop_rpc::TokenProto;

/// Gives the tokens that ride on answers; the process that holds the keys implements it.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  virtual TokenProto ContainerToken(const model::rm::ContainerInfo& container, model::AppIndex app) = 0;
  virtual TokenProto NmToken(const model::ApplicationAttemptId& attempt, model::NodeIndex node,
                             model::AppIndex app) = 0;
  /// A report of the node, for updated_nodes.
  virtual wire::yarn::NodeReportProto NodeReport(model::NodeIndex node) = 0;
  virtual model::rm::NodeAddress AddressOf(model::NodeIndex node) = 0;
};

wire::yarn::ContainerProto ToWire(const model::rm::ContainerInfo& container, model::AppIndex app, TokenSource& tokens);
wire::yarn::ContainerStatusProto ToWire(const model::rm::ContainerEnd& end);

wire::yarn::GetNewApplicationResponseProto ToWire(const model::rm::NewApplicationAnswer& answer);
wire::yarn::RegisterApplicationMasterResponseProto ToWire(const model::rm::RegisterMasterAnswer& answer,
                                                          TokenSource& tokens);
wire::yarn::AllocateResponseProto ToWire(const model::rm::AllocateAnswer& answer, TokenSource& tokens);
wire::yarn::NodeHeartbeatResponseProto ToWire(const model::rm::HeartbeatAnswer& answer, int64_t interval_ms,
                                              TokenSource& tokens);

}  // namespace fairlead::endpoints::yarn
