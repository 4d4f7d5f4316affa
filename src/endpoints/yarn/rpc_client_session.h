#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "endpoints/yarn/exceptions.h"
#include "endpoints/yarn/rpc_identity.h"
#include "wire/hadoop_rpc/frames.h"
#include "wire/hadoop_rpc/rpc.h"
#include "wire/hadoop_rpc/sasl_digest_md5.h"

namespace fairlead::endpoints::yarn {

struct RpcClientOptions {
  RpcUser user = {};
  std::string protocol = {};   // of the connection context and of every call
  std::string client_id = {};  // 16 random bytes, the same for all connections of a process
  std::string cnonce = {};     // random text for DIGEST-MD5, of this connection alone
  size_t frame_bytes_max = 128u << 20;
  /// A server that does not ask for a token (answers SUCCESS to NEGOTIATE) is spoken to by name, as Hadoop's client
  /// does when its own security is off.
  bool allow_fallback_to_simple = true;
};

/// The client's side of one connection of Hadoop IPC version 9 (org.apache.hadoop.ipc.Client.Connection). Pure. What to
/// do after a lost connection is the owner's decision. Calls may be added before the connection is set up; they leave
/// with the connection context.
class RpcClientSession {
 public:
  class Handler {
   public:
    virtual ~Handler() = default;
    /// The bytes of the response message; they live during the call.
    virtual void OnReply(int32_t call_id, std::string_view response) = 0;
    virtual void OnException(int32_t call_id, const RemoteException& exception) = 0;
    /// The connection cannot go on: a fatal answer, a failed login or malformed bytes. `remote` is empty in its class
    /// name when the reason is found on this side. No further event follows; calls without an answer have failed.
    virtual void OnFatal(const RemoteException& remote, bool login_failed) = 0;
  };

  RpcClientSession(RpcClientOptions options, Handler* handler);

  void OnBytes(std::string_view bytes);
  /// Adds a call and returns its id. `retry_count`: how often this very call was sent before.
  int32_t Call(std::string_view method, std::string_view request, int32_t retry_count = 0, uint64_t version = 1);
  /// Header-only message that keeps the connection alive (Hadoop sends it after a minute of waiting).
  void Ping();

  std::string TakeOutput();
  bool has_output() const { return !output_.empty(); }
  bool established() const { return stage_ == Stage::kCalls; }
  bool failed() const { return stage_ == Stage::kFailed; }
  size_t pending_calls() const { return pending_.size(); }

 private:
  enum class Stage { kNegotiate, kInitiated, kCalls, kFailed };

  void OnFrame(std::string_view frame);
  void OnSasl(std::string_view body);
  void OnNegotiate(const wire::hadoop_rpc::RpcSaslProto& message);
  void OnChallenge(std::string_view challenge);
  void OnSuccess(const wire::hadoop_rpc::RpcSaslProto& message);
  void SendContext();
  void SendSasl(const wire::hadoop_rpc::RpcSaslProto& message);
  void FailLocally(std::string_view why, bool login);
  void FailRemotely(RemoteException exception, bool login);

  const RpcClientOptions options_;
  Handler* const handler_;
  Stage stage_ = Stage::kNegotiate;
  bool logged_in_by_token_ = false;
  wire::hadoop_rpc::FrameReader frames_;
  wire::hadoop_rpc::RpcSaslAuthProto chosen_;
  wire::hadoop_rpc::DigestMd5Client digest_;
  int32_t next_call_id_ = 0;
  std::vector<int32_t> pending_;  // ascending
  std::string queued_;            // calls that wait for the set-up
  std::string output_;
};

}  // namespace fairlead::endpoints::yarn
