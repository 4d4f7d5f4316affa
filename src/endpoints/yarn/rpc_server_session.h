#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "endpoints/yarn/exceptions.h"
#include "endpoints/yarn/rpc_identity.h"
#include "wire/hadoop_rpc/frames.h"
#include "wire/hadoop_rpc/headers.h"
#include "wire/hadoop_rpc/rpc.h"
#include "wire/hadoop_rpc/sasl_digest_md5.h"
#include "wire/hadoop_rpc/sasl_layer.h"

namespace fairlead::endpoints::yarn {

/// KERBEROS on a listener.
struct KerberosLogin {
  std::string protocol;   // the service's principal: "rm",
  std::string server_id;  // and its host
  /// The short name of a principal (hadoop.security.auth_to_local), or why it has none.
  std::function<base::Result<std::string>(const std::string& principal)> short_name;
  /// Why whoever has this name in full may not speak to this listener; empty: everybody may.
  std::function<base::Status(const std::string& full_name)> admits = {};
};

struct RpcServerOptions {
  bool allow_simple = true;                 // SIMPLE: the caller's name is believed
  const TokenAuthority* tokens = nullptr;   // not null: TOKEN is offered; must outlive the sessions
  size_t frame_bytes_max = 128u << 20;      // ipc.maximum.data.length
  size_t setup_frame_bytes_max = 1u << 20;  // until the connection context is there
  size_t calls_max = 10'000;                // of one connection without an answer
  /// Callers may say that they act for another user (hadoop.proxyuser); Handler::AsksFor then judges each.
  bool impersonation = false;
  std::optional<KerberosLogin> kerberos = {};  // not empty: KERBEROS is offered
  /// hadoop.rpc.protection: what a login by token or ticket may agree on.
  wire::hadoop_rpc::Protections protections = {wire::hadoop_rpc::Protection::kAuthentication};
};

/// One call. The views live as long as the OnCall that brings it.
struct RpcCall {
  int32_t call_id = 0;
  int32_t retry_count = -1;
  std::string_view client_id;
  std::string_view protocol;
  std::string_view method;
  uint64_t protocol_version = 0;
  std::string_view request;  // the bytes of the request message
};

/// The server's side of one connection of Hadoop IPC version 9 (org.apache.hadoop.ipc.Server.Connection): preamble,
/// SASL, connection context, calls, with Hadoop's own answers to what is wrong. Pure: bytes in, calls and bytes out.
/// Every bound is checked before a byte is kept. Deadlines (a peer that says nothing) are the owner's, who sees them by
/// established() and idle().
class RpcServerSession {
 public:
  class Handler {
   public:
    virtual ~Handler() = default;
    /// A call of an authenticated caller; to be answered once by Reply or Fail, now or later, in any order.
    virtual void OnCall(const RpcCall& call) = 0;
    /// A call that is refused because it has more bytes than a message of its kind may have.
    virtual void OnTooLong(const base::BudgetKind& kind) { (void)kind; }
    /// A token of a login by GSSAPI, to be answered once by LoginStepped. Until then no further input is taken.
    virtual void OnLoginToken(std::string token) { (void)token; }
    /// caller() is known now and wants to speak `protocol`. True: somebody is asked whether he may, and Admit answers,
    /// once, now or later; until then no further input is taken. False: he may.
    virtual bool AsksFor(const std::string& protocol) { return (void)protocol, false; }
    /// A login was refused, or the name that is said after it, or by Admit() what the caller wants: what he is told.
    enum class Refused { kLogin, kName, kRight };
    virtual void OnRefused(Refused what, std::string_view why) { (void)what, (void)why; }
    /// A message outside of the protection that was agreed on; it is refused and the connection ends.
    virtual void OnUnprotected() {}
    /// No further call is wanted now; Resume() goes on.
    virtual bool Full() const { return false; }
  };

  /// `nonce`: random text that no other connection gets (for DIGEST-MD5). `options` and `handler` outlive this.
  RpcServerSession(const RpcServerOptions& options, std::string nonce, Handler* handler);
  ~RpcServerSession();

  /// Takes what arrived, in any cut. After closing() bytes are dropped.
  void OnBytes(std::string_view bytes);
  /// Goes on with what had arrived when the handler was full.
  void Resume() { OnBytes({}); }

  /// The answer to OnLoginToken; an error's message is what the client is told. Resume() goes on, unless this is called
  /// from inside of OnLoginToken.
  void LoginStepped(base::Result<wire::hadoop_rpc::LoginStep> step);
  /// The answer to AsksFor; an error's message is what the client is told. Resume() goes on.
  void Admit(const base::Status& may);
  /// Waits for one of the two.
  bool login_steps() const { return setup_ && setup_->steps; }

  /// Answers a call; ignored when the call is unknown (answered already).
  void Reply(int32_t call_id, std::string_view response);
  template <class Message>
  void ReplyMessage(int32_t call_id, const Message& message);
  /// Answers a call with an exception (ERROR_APPLICATION unless `detail` says otherwise).
  void Fail(int32_t call_id, std::string_view java_class, std::string_view message,
            wire::hadoop_rpc::RpcErrorCodeProto detail = wire::hadoop_rpc::RpcErrorCodeProto::kErrorApplication);

  /// What is to be sent; empties it.
  std::string TakeOutput();
  bool has_output() const { return !output_.empty(); }
  size_t output_bytes() const { return output_.size(); }
  /// A fatal answer was given: send the output, then close the connection.
  bool closing() const { return closing_; }
  /// The connection context is there: the caller is known.
  bool established() const { return stage_ == Stage::kCalls; }
  /// No call waits for an answer and no frame is half read.
  bool idle() const;
  size_t pending_calls() const { return pending_.size(); }
  /// Frames that were whole, from the first.
  uint64_t frames_taken() const { return frames_taken_; }
  /// A frame has begun, or waits until the handler wants it.
  bool has_input() const { return frames_.partial() || (sealed_ && sealed_->frames.partial()); }
  /// A whole frame waits until the handler wants it.
  bool has_frame() const { return frames_.ready() || (sealed_ && sealed_->frames.ready()); }
  /// Memory of what has arrived and was not taken.
  size_t buffered_bytes() const { return frames_.kept_bytes() + (sealed_ ? sealed_->frames.kept_bytes() : 0); }
  const Caller& caller() const { return caller_; }

 private:
  enum class Stage { kPreamble, kSasl, kContext, kCalls };
  bool Wanted() const { return !closing_ && !login_steps() && !handler_->Full(); }
  void TakeFrames(wire::hadoop_rpc::FrameReader& frames);
  void TakeSealed(std::string_view frame);
  void TakePreamble();
  void RefusePreamble(uint8_t version);
  void OnFrame(std::string_view frame);
  void OnOutOfBand(int32_t call_id, std::string_view payload);
  void OnSasl(std::string_view payload);
  void OnSaslMessage(const wire::hadoop_rpc::RpcSaslProto& message);
  void OnInitiate(const wire::hadoop_rpc::RpcSaslProto& message);
  void OnDigestResponse(std::string_view token);
  void OnLoginToken(std::string_view token);
  void Protect(std::unique_ptr<wire::hadoop_rpc::SaslLayer> layer);
  base::Status NameKerberosUser(std::string_view claimed);
  base::Status NameCaller(const std::string& user, const std::string& real);
  void SendNegotiate();
  std::vector<wire::hadoop_rpc::RpcSaslAuthProto> Offered() const;
  std::string OfferedNames() const;
  void OnContext(std::string_view payload);
  void OnRequest(const wire::hadoop_rpc::RequestHeaderView& header, std::string_view payload);
  void JudgeBegun(wire::hadoop_rpc::FrameReader& frames);
  void RefuseTooLong(const base::BudgetKind& kind, int32_t call_id, std::string_view method, size_t length);

  void SendSasl(const wire::hadoop_rpc::RpcSaslProto& message);
  void AppendSasl(const wire::hadoop_rpc::RpcSaslProto& message);
  void AppendResponse(const wire::hadoop_rpc::RpcResponseHeaderProto& header);
  /// Protects what `output_` has from `start` on: one whole frame.
  void Seal(size_t start);
  void SwitchToSimple();
  void FatalSasl(const RemoteException& reason);
  /// Tells the client why and closes.
  void Fatal(int32_t call_id, wire::hadoop_rpc::RpcErrorCodeProto detail, std::string_view java_class,
             std::string_view message);
  void FatalHeader(int32_t call_id, std::string_view message);
  void FatalDecoding(int32_t call_id, std::string_view message, const base::Status& why);
  bool TakePending(int32_t call_id);

  /// Until the connection context is there.
  struct Setup {
    std::string nonce;
    std::string preamble;
    bool sent_negotiate = false;
    std::unique_ptr<wire::hadoop_rpc::DigestMd5Server> digest;
    bool kerberos = false;  // was chosen
    bool steps = false;     // OnLoginToken or AsksFor is not answered yet
    bool judged = false;    // AsksFor is answered
  };
  /// Since a login that has agreed on a protection.
  struct Sealed {
    std::unique_ptr<wire::hadoop_rpc::SaslLayer> layer;
    wire::hadoop_rpc::FrameReader frames;  // inside
  };

  const RpcServerOptions& options_;
  Handler* const handler_;
  Stage stage_ = Stage::kPreamble;
  bool closing_ = false;
  bool sasl_requested_ = false;
  std::unique_ptr<Setup> setup_;  // null once calls may come
  wire::hadoop_rpc::FrameReader frames_;
  std::unique_ptr<Sealed> sealed_;
  Caller caller_;
  std::vector<int32_t> pending_;  // ascending
  uint64_t frames_taken_ = 0;
  std::string output_;
};

template <class Message>
void RpcServerSession::ReplyMessage(int32_t call_id, const Message& message) {
  Reply(call_id, message.Encode());
}

}  // namespace fairlead::endpoints::yarn
