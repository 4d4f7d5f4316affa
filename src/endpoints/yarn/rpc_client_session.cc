#include "endpoints/yarn/rpc_client_session.h"

#include <algorithm>
#include <utility>

#include "wire/hadoop_rpc/base64.h"
#include "wire/hadoop_rpc/headers.h"

namespace fairlead::endpoints::yarn {

using namespace wire::hadoop_rpc;

namespace {

RpcRequestHeaderProto RequestHeader(int32_t call_id, std::string_view client_id, int32_t retry_count) {
  RpcRequestHeaderProto header;
  header.rpc_kind = RpcKindProto::kProtocolBuffer;
  header.rpc_op = RpcOperationProto::kFinalPacket;
  header.call_id = call_id;
  header.client_id = client_id;
  header.retry_count = retry_count;
  return header;
}

/// What is wrapped at once for a server: with what the protection adds it stays below the server's bound.
constexpr size_t kPieceBytes = kWrappedMax - 1024;

}  // namespace

RpcClientSession::RpcClientSession(RpcClientOptions options, Handler* handler)
    : options_(std::move(options)),
      handler_(handler),
      frames_(options_.frame_bytes_max),
      sealed_frames_(options_.frame_bytes_max) {
  if (!options_.user.token && options_.user.server_principal.empty()) {
    output_ = EncodePreamble(kAuthNone);
    SendContext();
    return;
  }
  output_ = EncodePreamble(kAuthSasl);
  RpcSaslProto negotiate;
  negotiate.state = RpcSaslStateProto::kNegotiate;
  SendSasl(negotiate);
}

std::string RpcClientSession::TakeOutput() {
  std::string_view rest = unsealed_;
  while (!rest.empty()) {
    base::Result<std::string> wrapped = layer_->Wrap(rest.substr(0, kPieceBytes));
    if (!wrapped) break;  // the connection is of no use any more; the server closes it
    RpcSaslProto message;
    message.state = RpcSaslStateProto::kWrap;
    message.token = std::move(*wrapped);
    SendSasl(message);
    rest.remove_prefix(std::min(rest.size(), kPieceBytes));
  }
  unsealed_.clear();
  return std::exchange(output_, {});
}

int32_t RpcClientSession::Call(std::string_view method, std::string_view request, int32_t retry_count,
                               uint64_t version) {
  const int32_t call_id = next_call_id_;
  next_call_id_ = (next_call_id_ + 1) & INT32_MAX;
  if (stage_ == Stage::kFailed) return call_id;
  pending_.insert(std::lower_bound(pending_.begin(), pending_.end(), call_id), call_id);
  FrameWriter frame(stage_ == Stage::kCalls ? Out() : queued_);
  frame.Delimited(RequestHeader(call_id, options_.client_id, retry_count));
  RequestHeaderProto header;
  header.method_name = method;
  header.declaring_class_protocol_name = options_.protocol;
  header.client_protocol_version = version;
  frame.Delimited(header);
  frame.DelimitedBytes(request);
  frame.Finish();
  return call_id;
}

void RpcClientSession::Ping() {
  if (stage_ != Stage::kCalls) return;
  FrameWriter frame(Out());
  frame.Delimited(RequestHeader(kCallIdPing, options_.client_id, -1));
  frame.Finish();
}

void RpcClientSession::OnBytes(std::string_view bytes) {
  if (stage_ == Stage::kFailed) return;
  frames_.Push(bytes);
  TakeFrames(frames_);
}

void RpcClientSession::TakeFrames(FrameReader& frames) {
  while (stage_ != Stage::kFailed) {
    const std::optional<std::string_view> frame = frames.Next();
    if (!frame) break;
    layer_&&& frames == &frames_ ? TakeSealed(*frame) : OnFrame(*frame);
  }
  if (frames.failed() && stage_ != Stage::kFailed) {
    FailLocally("the server announced a frame of " + std::to_string(frames.refused_length()) + " bytes", false);
  }
  frames.Keep();
}

/// A message of the protection: a piece of the stream of frames inside.
void RpcClientSession::TakeSealed(std::string_view frame) {
  const std::optional<std::string_view> header_bytes = TakeDelimited(frame);
  ResponseHeaderView header;
  const bool sasl = header_bytes && ParseResponseHeader(*header_bytes, header) && header.call_id == kCallIdSasl &&
                    header.status == RpcStatusProto::kSuccess;
  const std::optional<std::string_view> body = sasl ? TakeDelimited(frame) : std::nullopt;
  RpcSaslProto message;
  if (!body || !message.ParseFrom(*body, wire::hadoop_rpc::kAnswer).ok() || message.state != RpcSaslStateProto::kWrap) {
    return FailLocally("the server sent a message outside of the protection that was agreed on", false);
  }
  const base::Result<std::string> plain = layer_->Unwrap(message.Token());
  if (!plain) return FailLocally(plain.error().message, false);
  sealed_frames_.Push(*plain);
  TakeFrames(sealed_frames_);
}

void RpcClientSession::OnFrame(std::string_view frame) {
  const std::optional<std::string_view> header_bytes = TakeDelimited(frame);
  ResponseHeaderView header;
  if (!header_bytes || !ParseResponseHeader(*header_bytes, header)) {
    return FailLocally("the server's answer has no readable header", false);
  }
  if (header.status != RpcStatusProto::kSuccess) {
    RemoteException exception{std::string(header.exception_class), std::string(header.error)};
    if (header.status == RpcStatusProto::kFatal || stage_ != Stage::kCalls) {
      return FailRemotely(std::move(exception),
                          stage_ != Stage::kCalls || header.detail == RpcErrorCodeProto::kFatalUnauthorized);
    }
    const auto at = std::lower_bound(pending_.begin(), pending_.end(), header.call_id);
    if (at == pending_.end() || *at != header.call_id) return;
    pending_.erase(at);
    return handler_->OnException(header.call_id, exception);
  }
  const std::optional<std::string_view> body = TakeDelimited(frame);
  if (!body || !frame.empty()) return FailLocally("RPC response length mismatch", false);
  if (stage_ != Stage::kCalls) {
    if (header.call_id != kCallIdSasl) return FailLocally("the server answered out of turn during the login", true);
    return OnSasl(*body);
  }
  const auto at = std::lower_bound(pending_.begin(), pending_.end(), header.call_id);
  if (at == pending_.end() || *at != header.call_id) return;  // answered already: nothing waits for it
  pending_.erase(at);
  handler_->OnReply(header.call_id, *body);
}

void RpcClientSession::OnSasl(std::string_view body) {
  RpcSaslProto message;
  if (base::Status parsed = message.ParseFrom(body, wire::hadoop_rpc::kSetup); !parsed)
    return FailLocally(parsed.error().message, true);
  switch (message.state) {
    case RpcSaslStateProto::kNegotiate:
      return stage_ == Stage::kNegotiate ? OnNegotiate(message) : FailLocally("second SASL negotiation", true);
    case RpcSaslStateProto::kChallenge:
      if (stage_ != Stage::kInitiated || login_steps_) return FailLocally("SASL challenge too early", true);
      return kerberos_ ? AskForLoginToken(std::string(message.Token())) : OnChallenge(message.Token());
    case RpcSaslStateProto::kSuccess:
      return OnSuccess(message);
    default:
      return FailLocally("RPC client does not support SASL state " + std::string(Name(message.state)), true);
  }
}

void RpcClientSession::OnNegotiate(const RpcSaslProto& message) {
  std::string offered;
  for (const RpcSaslAuthProto& auth : message.auths) {
    offered += (offered.empty() ? "" : ", ") + auth.method.substr(0, 50) +
               (auth.mechanism.empty() ? "" : "/" + auth.mechanism.substr(0, 50));
    if (auth.method == "SIMPLE" && MayFallBack()) {
      RpcSaslProto initiate;
      initiate.state = RpcSaslStateProto::kInitiate;
      initiate.auths.push_back(auth);
      SendSasl(initiate);  // not answered
      return SendContext();
    }
    if (auth.method == "KERBEROS" && auth.mechanism == "GSSAPI" && !options_.user.server_principal.empty()) {
      chosen_ = auth;
      chosen_.challenge.reset();
      kerberos_ = true;
      stage_ = Stage::kInitiated;
      return AskForLoginToken("");
    }
    if (auth.method != "TOKEN" || auth.mechanism != "DIGEST-MD5" || !options_.user.token) continue;
    digest_ = DigestMd5Client(EncodeBase64(options_.user.token->identifier),
                              EncodeBase64(options_.user.token->password), options_.cnonce, options_.protections);
    chosen_ = auth;
    const std::string challenge(auth.Challenge());
    chosen_.challenge.reset();
    stage_ = Stage::kInitiated;
    if (!challenge.empty()) return OnChallenge(challenge);
    RpcSaslProto initiate;
    initiate.state = RpcSaslStateProto::kInitiate;
    initiate.token = "";
    initiate.auths.push_back(chosen_);
    return SendSasl(initiate);
  }
  FailLocally("Client cannot authenticate via:[" + offered + "]", true);
}

void RpcClientSession::OnChallenge(std::string_view challenge) {
  base::Result<std::string> response = digest_.Respond(challenge);
  if (!response) return FailLocally(response.error().message, true);
  RpcSaslProto answer;
  const bool first = !chosen_.method.empty();
  answer.state = first ? RpcSaslStateProto::kInitiate : RpcSaslStateProto::kResponse;
  answer.token = std::move(*response);
  if (first) answer.auths.push_back(std::exchange(chosen_, {}));
  SendSasl(answer);
}

void RpcClientSession::OnSuccess(const RpcSaslProto& message) {
  if (stage_ == Stage::kNegotiate) {
    if (!MayFallBack()) {
      return FailLocally(
          "Server asks us to fall back to SIMPLE auth, but this client is configured to only allow secure connections.",
          true);
    }
    return SendContext();
  }
  if (kerberos_) {
    if (!proven_) return FailLocally("the server has not shown that it is the one that was asked for", true);
    layer_ = std::move(next_layer_);
  } else {
    if (base::Status proven = digest_.CheckRspauth(message.Token()); !proven) {
      return FailLocally(proven.error().message, true);
    }
    layer_ = digest_.MakeLayer();
  }
  logged_in_ = true;
  SendContext();
}

void RpcClientSession::AskForLoginToken(std::string challenge) {
  login_steps_ = true;
  handler_->OnLoginToken(std::move(challenge));
}

void RpcClientSession::LoginStepped(base::Result<LoginStep> step) {
  if (stage_ == Stage::kFailed || !login_steps_) return;
  login_steps_ = false;
  if (!step) return FailLocally(step.error().message, true);
  if (step->done) {
    proven_ = true;
    next_layer_ = std::move(step->layer);
  }
  RpcSaslProto answer;
  const bool first = !chosen_.method.empty();
  answer.state = first ? RpcSaslStateProto::kInitiate : RpcSaslStateProto::kResponse;
  answer.token = std::move(step->token);
  if (first) answer.auths.push_back(std::exchange(chosen_, {}));
  SendSasl(answer);
}

void RpcClientSession::SendContext() {
  IpcConnectionContextProto context;
  UserInformationProto& user = context.user_info.emplace();
  // With a token the server knows the user; without, the name is all there is.
  if (!logged_in_) {
    user.effective_user = options_.user.user;
    if (!options_.user.real_user.empty()) user.real_user = options_.user.real_user;
  } else if (!options_.user.token && !options_.user.real_user.empty()) {
    user.effective_user = options_.user.user;  // the ticket says who acts for him
  }
  context.protocol = options_.protocol;
  FrameWriter frame(Out());
  frame.Delimited(RequestHeader(kCallIdContext, options_.client_id, -1));
  frame.Delimited(context);
  frame.Finish();
  stage_ = Stage::kCalls;
  Out().append(queued_);
  queued_.clear();
}

void RpcClientSession::SendSasl(const RpcSaslProto& message) {
  FrameWriter frame(output_);
  frame.Delimited(RequestHeader(kCallIdSasl, "", -1));
  frame.Delimited(message);
  frame.Finish();
}

void RpcClientSession::FailLocally(std::string_view why, bool login) {
  FailRemotely({std::string(), std::string(why)}, login);
}

void RpcClientSession::FailRemotely(RemoteException exception, bool login) {
  stage_ = Stage::kFailed;
  pending_.clear();
  handler_->OnFatal(exception, login);
}

}  // namespace fairlead::endpoints::yarn
