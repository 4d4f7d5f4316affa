#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "endpoints/yarn/exceptions.h"
#include "endpoints/yarn/rpc_identity.h"
#include "wire/hadoop_rpc/frames.h"
#include "wire/hadoop_rpc/rpc.h"
#include "wire/hadoop_rpc/sasl_digest_md5.h"
#include "wire/hadoop_rpc/sasl_layer.h"

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
  /// hadoop.rpc.protection, most wanted first.
  wire::hadoop_rpc::Protections protections = {wire::hadoop_rpc::Protection::kAuthentication};
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
    /// What the server sent in a login by Kerberos (at first nothing), to be answered once by LoginStepped.
    virtual void OnLoginToken(std::string challenge) { (void)challenge; }
  };

  RpcClientSession(RpcClientOptions options, Handler* handler);

  void OnBytes(std::string_view bytes);
  /// Adds a call and returns its id. `retry_count`: how often this very call was sent before.
  int32_t Call(std::string_view method, std::string_view request, int32_t retry_count = 0, uint64_t version = 1);
  /// Header-only message that keeps the connection alive (Hadoop sends it after a minute of waiting).
  void Ping();

  /// The answer to OnLoginToken; may call OnFatal.
  void LoginStepped(base::Result<wire::hadoop_rpc::LoginStep> step);
  /// In the first OnLoginToken: what the server says it is, "rm/rm1.example.com".
  std::string ServerName() const { return std::string(chosen_.Protocol()) + "/" + std::string(chosen_.ServerId()); }
  /// Waits for that answer.
  bool login_steps() const { return login_steps_; }

  std::string TakeOutput();
  bool has_output() const { return !output_.empty() || !unsealed_.empty(); }
  bool established() const { return stage_ == Stage::kCalls; }
  bool failed() const { return stage_ == Stage::kFailed; }
  size_t pending_calls() const { return pending_.size(); }

 private:
  enum class Stage { kNegotiate, kInitiated, kCalls, kFailed };

  void TakeFrames(wire::hadoop_rpc::FrameReader& frames);
  void TakeSealed(std::string_view frame);
  void OnFrame(std::string_view frame);
  /// To SIMPLE; who asked for Kerberos wants to know the server.
  bool MayFallBack() const { return options_.allow_fallback_to_simple && options_.user.server_principal.empty(); }
  /// Where a frame is written to.
  std::string& Out() { return layer_ ? unsealed_ : output_; }
  void AskForLoginToken(std::string challenge);
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
  bool logged_in_ = false;    // so that the server knows the user
  bool kerberos_ = false;     // the login that was chosen
  bool login_steps_ = false;  // OnLoginToken is not answered yet
  bool proven_ = false;       // this side is content with the server
  wire::hadoop_rpc::FrameReader frames_;
  std::unique_ptr<wire::hadoop_rpc::SaslLayer> layer_;       // in use since the login
  std::unique_ptr<wire::hadoop_rpc::SaslLayer> next_layer_;  // from the server's SUCCESS on
  wire::hadoop_rpc::FrameReader sealed_frames_;              // inside
  std::string unsealed_;                                     // frames to be wrapped
  wire::hadoop_rpc::RpcSaslAuthProto chosen_;
  wire::hadoop_rpc::DigestMd5Client digest_;
  int32_t next_call_id_ = 0;
  std::vector<int32_t> pending_;  // ascending
  std::string queued_;            // calls that wait for the set-up
  std::string output_;
};

}  // namespace fairlead::endpoints::yarn
