#pragma once

#include "env/loop.h"
#include "model/ids.h"
#include "process/rm/call_answers.h"
#include "wire/yarn/master.h"

namespace fairlead::process::rm {

/// ApplicationMasterProtocol (ApplicationMasterService): who calls is in the AMRM token alone. Reads the core, and asks
/// the manager; owns nothing.
class MasterService final : public CallAnswers {
 public:
  MasterService(env::Loop& loop, ResourceManager& manager, rpc::RpcServer& server)
      : CallAnswers(manager, server), loop_(loop) {}
  void OnCall(const rpc::IncomingCall& call);

 private:
  /// `key`: the AMRM key of the caller's token.
  void Allocate(const Call& call, const model::ApplicationAttemptId& attempt, int32_t key);
  Operation OperationOf(const char* name, const model::ApplicationAttemptId& attempt) const;
  void AddNmTokens(const model::rm::AllocateAnswer& answer, wire::yarn::AllocateResponseProto& response);

  env::Loop& loop_;
};

}  // namespace fairlead::process::rm
