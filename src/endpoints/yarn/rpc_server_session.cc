#include "endpoints/yarn/rpc_server_session.h"

#include <algorithm>

#include "base/bytes.h"
#include "endpoints/yarn/text_bounds.h"
#include "wire/hadoop_rpc/base64.h"
#include "wire/hadoop_rpc/message_kinds.h"
#include "wire/hadoop_rpc/proto_runtime.h"

namespace fairlead::endpoints::yarn {

using namespace wire::hadoop_rpc;

namespace {

constexpr std::string_view kTokenMethod = "TOKEN";
constexpr std::string_view kSimpleMethod = "SIMPLE";
constexpr std::string_view kKerberosMethod = "KERBEROS";
constexpr size_t kPrincipalMax = 1024;
/// A wrapped message and the headers before it.
constexpr size_t kSealedFrameMax = kWrappedMax + 1024;

/// IPC versions 3 to 8 read: call id, status -1, class and message, each string after its 32-bit length; version 2 a
/// call id of 0 and a byte instead of the status.
std::string OldVersionFatal(int version, std::string_view message) {
  std::string out;
  base::ByteWriter to(out);
  to.I32(version >= 3 ? kCallIdAuthFailed : 0);
  version >= 3 ? to.I32(-1) : to.U8(1);
  for (const std::string_view text : {exceptions::kVersionMismatch, message}) {
    to.I32(static_cast<int32_t>(text.size()));
    to.Bytes(text);
  }
  return out;
}

bool SameOffer(const RpcSaslAuthProto& said, RpcSaslAuthProto offered) {
  offered.challenge.reset();
  return said == offered;
}

}  // namespace

std::string Caller::Shown() const {
  const auto named = [](const std::string& name, const char* how) { return name + " (auth:" + how + ")"; };
  const std::string& own = full_name.empty() ? user : full_name;
  if (by_token())
    return named(own, real_user.empty() ? "TOKEN" : "PROXY") +
           (real_user.empty() ? "" : " via " + named(real_user, "TOKEN"));
  const bool ticket = method == model::LoginMethod::kKerberos;
  const char* how = ticket ? "KERBEROS" : "SIMPLE";
  return real_user.empty() ? named(own, how)
                           : named(own, "PROXY") + " via " + named(ticket ? principal : real_user, how);
}

RpcServerSession::RpcServerSession(const RpcServerOptions& options, std::string nonce, Handler* handler)
    : options_(options), handler_(handler), setup_(std::make_unique<Setup>()), frames_(options.setup_frame_bytes_max) {
  setup_->nonce = std::move(nonce);
}

RpcServerSession::~RpcServerSession() = default;

bool RpcServerSession::idle() const {
  return pending_.empty() && !has_input() && (!setup_ || setup_->preamble.empty());
}

std::string RpcServerSession::TakeOutput() { return std::exchange(output_, {}); }

void RpcServerSession::OnBytes(std::string_view bytes) {
  if (stage_ == Stage::kPreamble && !closing_) {
    const size_t wanted = std::min(kPreambleBytes - setup_->preamble.size(), bytes.size());
    setup_->preamble.append(bytes.substr(0, wanted));
    bytes.remove_prefix(wanted);
    TakePreamble();
  }
  if (closing_ || stage_ == Stage::kPreamble) return;
  frames_.Push(bytes);
  if (sealed_ && Wanted()) {
    sealed_->frames.Push({});
    TakeFrames(sealed_->frames);
  }
  while (sealed_ && Wanted() && !sealed_->frames.ready()) {
    const std::optional<std::string_view> frame = frames_.Next();
    if (!frame) break;
    TakeSealed(*frame);
  }
  TakeFrames(frames_);
}

/// Those that are whole, until no more are wanted; keeps the rest.
void RpcServerSession::TakeFrames(FrameReader& frames) {
  const bool outer = &frames == &frames_;
  while (Wanted() && !(outer && sealed_)) {
    const std::optional<std::string_view> frame = frames.Next();
    if (!frame) {
      JudgeBegun(frames);
      break;
    }
    ++frames_taken_;
    OnFrame(*frame);
  }
  if (frames.failed() && !closing_) {
    const int32_t length = frames.refused_length();
    const size_t limit = outer && sealed_ ? kSealedFrameMax
                         : established()  ? options_.frame_bytes_max
                                          : options_.setup_frame_bytes_max;
    Fatal(kCallIdAuthFailed, RpcErrorCodeProto::kFatalDeserializingRequest, exceptions::kIo,
          length < 0 ? "Unexpected data length " + std::to_string(length) + "!!"
                     : "Requested data length " + std::to_string(length) +
                           " is longer than maximum configured RPC length " + std::to_string(limit) + ".");
  }
  frames.Keep();
}

/// A message of the protection: a piece of the stream of frames inside. Stock takes plain calls here as well, and
/// whoever is on the wire could add some.
void RpcServerSession::TakeSealed(std::string_view frame) {
  const std::optional<std::string_view> header_bytes = TakeDelimited(frame);
  RequestHeaderView header;
  RpcSaslProto message;
  const bool sasl = header_bytes && ParseRequestHeader(*header_bytes, header) && header.call_id == kCallIdSasl;
  const std::optional<std::string_view> body = sasl ? TakeDelimited(frame) : std::nullopt;
  if (!body || !message.ParseFrom(*body, kSetup).ok() || message.state != RpcSaslStateProto::kWrap) {
    handler_->OnUnprotected();
    return FatalHeader(kCallIdAuthFailed, "A message outside of the protection that was agreed on");
  }
  const base::Result<std::string> plain = sealed_->layer->Unwrap(message.Token());
  if (!plain) {
    handler_->OnUnprotected();
    return FatalSasl({std::string(exceptions::kSasl), "A protected message was changed, repeated or out of turn"});
  }
  sealed_->frames.Push(*plain);
  TakeFrames(sealed_->frames);
}

void RpcServerSession::TakePreamble() {
  if (setup_->preamble.starts_with("GET ")) {
    output_.append(kHttpAnswer);
    closing_ = true;
    return;
  }
  if (setup_->preamble.size() < kPreambleBytes) return;
  const uint8_t version = static_cast<uint8_t>(setup_->preamble[4]);
  if (!setup_->preamble.starts_with("hrpc") || version != kIpcVersion) return RefusePreamble(version);
  const uint8_t auth = static_cast<uint8_t>(setup_->preamble[6]);
  setup_->preamble.clear();
  if (auth == kAuthSasl) {
    sasl_requested_ = true;
    stage_ = Stage::kSasl;
  } else if (auth != kAuthNone) {
    Fatal(kCallIdAuthFailed, RpcErrorCodeProto::kFatalUnauthorized, exceptions::kIpc,
          "Unknown auth protocol:" + std::to_string(static_cast<int8_t>(auth)));
  } else if (!options_.allow_simple) {
    Fatal(kCallIdAuthFailed, RpcErrorCodeProto::kFatalUnauthorized, exceptions::kAccessControl,
          "SIMPLE authentication is not enabled.  Available:" + OfferedNames());
  } else {
    stage_ = Stage::kContext;
  }
}

/// As Server.Connection.setupBadVersionResponse: in the form that the client's version reads.
void RpcServerSession::RefusePreamble(uint8_t version) {
  const int shown = version < 128 ? version : version - 256;  // a byte of Java
  const std::string message = "Server IPC version 9 cannot communicate with client version " + std::to_string(shown);
  if (shown >= 9) {
    return Fatal(kCallIdAuthFailed, RpcErrorCodeProto::kFatalVersionMismatch, exceptions::kVersionMismatch, message);
  }
  if (shown >= 2) output_.append(OldVersionFatal(shown, message));
  closing_ = true;
}

void RpcServerSession::OnFrame(std::string_view frame) {
  const std::optional<std::string_view> header_bytes = TakeDelimited(frame);
  RequestHeaderView header;
  if (!header_bytes || !ParseRequestHeader(*header_bytes, header)) {
    return FatalDecoding(kCallIdAuthFailed, "RpcRequestHeaderProto",
                         header_bytes ? RpcRequestHeaderProto().ParseFrom(*header_bytes, wire::hadoop_rpc::kSetup)
                                      : base::Error{"truncated"});
  }
  // A value without a name counts as absent, as in Java's protobuf.
  const std::string_view operation = Name(header.operation);
  if (!header.has_operation || operation.empty()) {
    return FatalHeader(header.call_id, " IPC Server: No rpc op in rpcRequestHeader");
  }
  if (header.operation != RpcOperationProto::kFinalPacket) {
    return FatalHeader(header.call_id,
                       "IPC Server does not implement rpc header operationRPC_" + std::string(operation));
  }
  if (!header.has_kind || Name(header.kind).empty()) {
    return FatalHeader(header.call_id, " IPC Server: No rpc kind in rpcRequestHeader");
  }
  if (header.call_id < 0) return OnOutOfBand(header.call_id, frame);
  if (stage_ != Stage::kCalls) return FatalHeader(header.call_id, "Connection context not established");
  OnRequest(header, frame);
}

void RpcServerSession::OnOutOfBand(int32_t call_id, std::string_view payload) {
  switch (call_id) {
    case kCallIdContext:
      if (stage_ == Stage::kSasl) return FatalHeader(call_id, "Connection header sent during SASL negotiation");
      if (stage_ == Stage::kCalls) return FatalHeader(call_id, "Connection context already processed");
      return OnContext(payload);
    case kCallIdSasl:
      return OnSasl(payload);
    case kCallIdPing:
      return;
    default:
      return FatalHeader(call_id, "Unknown out of band call #" + std::to_string(call_id));
  }
}

void RpcServerSession::OnSasl(std::string_view payload) {
  if (!sasl_requested_) return FatalHeader(kCallIdSasl, "SASL protocol not requested by client");
  if (stage_ != Stage::kSasl) {
    return Fatal(kCallIdSasl, RpcErrorCodeProto::kFatalInvalidRpcHeader, exceptions::kSasl,
                 "Negotiation is already complete");
  }
  const std::optional<std::string_view> bytes = TakeDelimited(payload);
  RpcSaslProto message;
  const base::Status parsed = bytes ? message.ParseFrom(*bytes, wire::hadoop_rpc::kSetup) : base::Error{"truncated"};
  if (!parsed) {
    return FatalDecoding(kCallIdSasl, "RpcSaslProto", parsed);
  }
  OnSaslMessage(message);
}

void RpcServerSession::OnSaslMessage(const RpcSaslProto& message) {
  switch (message.state) {
    case RpcSaslStateProto::kNegotiate:
      if (setup_->sent_negotiate) {
        return FatalSasl({std::string(exceptions::kAccessControl), "Client already attempted negotiation"});
      }
      return SendNegotiate();
    case RpcSaslStateProto::kInitiate:
      return OnInitiate(message);
    case RpcSaslStateProto::kResponse:
      return setup_->kerberos ? OnLoginToken(message.Token()) : OnDigestResponse(message.Token());
    case RpcSaslStateProto::kWrap:
      return Fatal(kCallIdSasl, RpcErrorCodeProto::kFatalInvalidRpcHeader, exceptions::kSasl,
                   "Server is not wrapping data");
    default: {
      const std::string_view name = Name(message.state);
      return FatalSasl({std::string(exceptions::kSasl),
                        "Client sent unsupported state " +
                            (name.empty() ? std::to_string(static_cast<int32_t>(message.state)) : std::string(name))});
    }
  }
}

std::vector<RpcSaslAuthProto> RpcServerSession::Offered() const {
  std::vector<RpcSaslAuthProto> offered;
  if (options_.tokens) {
    RpcSaslAuthProto token{.method = std::string(kTokenMethod), .mechanism = "DIGEST-MD5"};
    token.protocol = "";
    token.server_id = std::string(kDigestRealm);
    offered.push_back(std::move(token));
  }
  if (options_.kerberos) {
    RpcSaslAuthProto kerberos{.method = std::string(kKerberosMethod), .mechanism = "GSSAPI"};
    kerberos.protocol = options_.kerberos->protocol;
    kerberos.server_id = options_.kerberos->server_id;
    offered.push_back(std::move(kerberos));
  }
  if (options_.allow_simple) offered.push_back({.method = std::string(kSimpleMethod), .mechanism = ""});
  return offered;
}

/// "[TOKEN, SIMPLE]"
std::string RpcServerSession::OfferedNames() const {
  std::string names;
  for (const RpcSaslAuthProto& auth : Offered()) names += (names.empty() ? "" : ", ") + auth.method;
  return "[" + names + "]";
}

void RpcServerSession::SendNegotiate() {
  setup_->sent_negotiate = true;
  RpcSaslProto answer;
  if (!options_.tokens && !options_.kerberos) {
    // A server that knows only SIMPLE says SUCCESS at once, and the client goes on without SASL.
    answer.state = RpcSaslStateProto::kSuccess;
    SendSasl(answer);
    return SwitchToSimple();
  }
  answer.state = RpcSaslStateProto::kNegotiate;
  answer.auths = Offered();
  if (options_.tokens) {
    setup_->digest = std::make_unique<DigestMd5Server>(setup_->nonce, options_.protections);
    answer.auths.front().challenge = setup_->digest->Challenge();
  }
  SendSasl(answer);
}

void RpcServerSession::OnInitiate(const RpcSaslProto& message) {
  if (message.auths.size() != 1) {
    return FatalSasl({std::string(exceptions::kSasl), "Client mechanism is malformed"});
  }
  const RpcSaslAuthProto& said = message.auths.front();
  const std::vector<RpcSaslAuthProto> offered = Offered();
  const bool known =
      std::any_of(offered.begin(), offered.end(), [&](const RpcSaslAuthProto& auth) { return SameOffer(said, auth); });
  if (!known) {
    if (!setup_->sent_negotiate) return SendNegotiate();
    return FatalSasl({std::string(exceptions::kAccessControl),
                      said.method.substr(0, 100) + " authentication is not enabled.  Available:" + OfferedNames()});
  }
  if (said.method == kSimpleMethod) return SwitchToSimple();  // without an answer
  if (setup_->kerberos) {
    return FatalSasl({std::string(exceptions::kSasl), "Client sent a second INITIATE"});
  }
  if (said.method == kKerberosMethod) {
    setup_->kerberos = true;
    setup_->digest.reset();
    return OnLoginToken(message.Token());
  }
  if (!setup_->digest) setup_->digest = std::make_unique<DigestMd5Server>(setup_->nonce, options_.protections);
  if (message.Token().empty()) {
    RpcSaslProto answer;
    answer.state = RpcSaslStateProto::kChallenge;
    answer.token = setup_->digest->Challenge();
    return SendSasl(answer);
  }
  OnDigestResponse(message.Token());
}

void RpcServerSession::OnDigestResponse(std::string_view token) {
  if (!setup_->digest) return FatalSasl({std::string(exceptions::kSasl), "Client sent a response without a challenge"});
  std::optional<RemoteException> refused;
  const auto password_of = [&](std::string_view username) -> base::Result<std::string> {
    std::optional<std::string> identifier = DecodeBase64(username);
    base::Result<TokenSecret> secret =
        identifier ? options_.tokens->Secret(*identifier) : base::Error{"Can't de-serialize tokenIdentifier"};
    if (!secret) {
      const bool standby = secret.error().code == kTokenStandby;
      refused = RemoteException{std::string(standby ? exceptions::kStandby : exceptions::kInvalidToken),
                                secret.error().message};
      return secret.error();
    }
    caller_.user = secret->user;
    caller_.real_user = secret->real_user;
    caller_.token_identifier = std::move(*identifier);
    return EncodeBase64(secret->password);
  };
  base::Result<std::string> rspauth = setup_->digest->Verify(token, password_of);
  if (refused) return FatalSasl(*refused);
  if (!rspauth) return FatalSasl({std::string(exceptions::kSasl), rspauth.error().message});
  caller_.method = model::LoginMethod::kToken;
  stage_ = Stage::kContext;
  RpcSaslProto answer;
  answer.state = RpcSaslStateProto::kSuccess;
  answer.token = std::move(*rspauth);
  SendSasl(answer);
  Protect(setup_->digest->TakeLayer());
  setup_->digest.reset();
}

void RpcServerSession::OnLoginToken(std::string_view token) {
  setup_->steps = true;
  handler_->OnLoginToken(std::string(token));
}

void RpcServerSession::LoginStepped(base::Result<LoginStep> step) {
  if (closing_ || stage_ != Stage::kSasl || !login_steps()) return;
  setup_->steps = false;
  if (!step) return FatalSasl({std::string(exceptions::kSasl), step.error().message});
  RpcSaslProto answer;
  answer.state = step->done ? RpcSaslStateProto::kSuccess : RpcSaslStateProto::kChallenge;
  if (!step->done || !step->token.empty()) answer.token = std::move(step->token);
  if (step->done) {
    caller_.method = model::LoginMethod::kKerberos;
    caller_.principal = std::move(step->principal);
    stage_ = Stage::kContext;
  }
  SendSasl(answer);
  if (step->done) Protect(std::move(step->layer));
}

/// From the next frame on, in both directions.
void RpcServerSession::Protect(std::unique_ptr<SaslLayer> layer) {
  if (!layer) return;
  sealed_ = std::make_unique<Sealed>(Sealed{std::move(layer), FrameReader(options_.setup_frame_bytes_max)});
  frames_.set_max(kSealedFrameMax);
}

/// By the ticket's name; who gives another one acts for that user.
base::Status RpcServerSession::NameKerberosUser(std::string_view claimed) {
  const std::string& principal = caller_.principal;
  if (principal.size() > kPrincipalMax) return base::Error{"the principal's name is too long"};
  base::Result<std::string> name = options_.kerberos->short_name(principal);
  if (!name) return name.error();
  caller_.full_name = principal;
  if (!claimed.empty() && claimed != principal) {
    caller_.full_name = claimed;
    if (!options_.impersonation) {
      return base::Error{"User: " + principal + " is not allowed to impersonate " + caller_.full_name};
    }
    caller_.real_user = std::move(*name);
    name = caller_.full_name;
    if (claimed.find_first_of("/@") != std::string_view::npos) name = options_.kerberos->short_name(*name);
    if (!name) return name.error();
  }
  caller_.user = std::move(*name);
  return options_.kerberos->admits ? options_.kerberos->admits(caller_.full_name) : base::Status{};
}

void RpcServerSession::SwitchToSimple() {
  sasl_requested_ = false;
  setup_->digest.reset();
  stage_ = Stage::kContext;
}

void RpcServerSession::OnContext(std::string_view payload) {
  const std::optional<std::string_view> bytes = TakeDelimited(payload);
  IpcConnectionContextProto context;
  const base::Status parsed = bytes ? context.ParseFrom(*bytes, wire::hadoop_rpc::kSetup) : base::Error{"truncated"};
  if (!parsed) {
    return FatalDecoding(kCallIdContext, "IpcConnectionContextProto", parsed);
  }
  const std::string user(context.UserInfo().EffectiveUser());
  const std::string real(context.UserInfo().RealUser());
  base::Status within = Within("the user's name", user.size(), kNameMax);
  if (within.ok()) within = Within("the real user's name", real.size(), kNameMax);
  if (!within.ok()) {
    return Fatal(kCallIdContext, RpcErrorCodeProto::kFatalUnauthorized, exceptions::kAccessControl,
                 within.error().message);
  }
  if (const base::Status named = NameCaller(user, real); !named.ok()) {
    const bool simple = caller_.method == model::LoginMethod::kSimple;
    const bool no_claim = caller_.by_token() || (simple && user.empty());
    return Fatal(kCallIdContext, RpcErrorCodeProto::kFatalUnauthorized,
                 no_claim ? exceptions::kAccessControl : exceptions::kAuthorization, named.error().message);
  }
  setup_->steps = true;
  if (!handler_->AsksFor(std::string(context.Protocol()))) Admit({});
}

/// Who calls, after what the context says of him.
base::Status RpcServerSession::NameCaller(const std::string& user, const std::string& real) {
  if (caller_.method == model::LoginMethod::kKerberos) return NameKerberosUser(user);
  if (caller_.by_token()) {
    if (user.empty() || user == caller_.user) return {};
    return base::Error{"Authenticated user (" + caller_.user +
                       " (auth:TOKEN)) doesn't match what the client claims to be (" + user + " (auth:SIMPLE))"};
  }
  if (user.empty()) return base::Error{"The connection context names no user"};
  caller_.user = user;
  if (real.empty() || real == user) return {};
  caller_.real_user = real;
  if (options_.impersonation) return {};
  return base::Error{"User: " + real + " is not allowed to impersonate " + user};
}

void RpcServerSession::Admit(const base::Status& may) {
  if (closing_ || stage_ != Stage::kContext || !login_steps()) return;
  setup_->steps = false;
  setup_->judged = true;
  if (!may.ok()) {
    return Fatal(kCallIdContext, RpcErrorCodeProto::kFatalUnauthorized, exceptions::kAuthorization,
                 may.error().message);
  }
  stage_ = Stage::kCalls;
  setup_.reset();
  (sealed_ ? sealed_->frames : frames_).set_max(options_.frame_bytes_max);
}

void RpcServerSession::OnRequest(const RequestHeaderView& header, std::string_view payload) {
  if (header.kind != RpcKindProto::kProtocolBuffer) {
    return FatalHeader(header.call_id, "Unknown rpc kind in rpc headerRPC_" + std::string(Name(header.kind)));
  }
  const std::optional<std::string_view> method_bytes = TakeDelimited(payload);
  MethodHeaderView method;
  if (!method_bytes || !ParseMethodHeader(*method_bytes, method)) {
    return Fatal(header.call_id, RpcErrorCodeProto::kFatalDeserializingRequest, exceptions::kRpcServer,
                 "IPC server unable to read call parameters: RequestHeaderProto is malformed or incomplete");
  }
  const auto at = std::lower_bound(pending_.begin(), pending_.end(), header.call_id);
  if (at != pending_.end() && *at == header.call_id) return FatalHeader(header.call_id, "Call id is in use");
  const bool busy = pending_.size() >= options_.calls_max;
  pending_.insert(at, header.call_id);
  if (busy) {
    return Fail(header.call_id, exceptions::kRetriable, "Server too busy", RpcErrorCodeProto::kErrorRpcServer);
  }
  const base::BudgetKind& kind = CallKind(method.method);
  if (payload.size() > kind.bytes) return RefuseTooLong(kind, header.call_id, method.method, payload.size());
  const std::optional<std::string_view> request = TakeDelimited(payload);
  if (!request) {
    return Fail(header.call_id, exceptions::kInvalidProtocolBuffer,
                "While parsing a protocol message, the input ended unexpectedly: the request message is cut short.");
  }
  handler_->OnCall({.call_id = header.call_id,
                    .retry_count = header.retry_count,
                    .client_id = header.client_id,
                    .protocol = method.protocol,
                    .method = method.method,
                    .protocol_version = method.version,
                    .request = *request});
}

/// A long frame is judged by its headers, before the rest of it takes memory: the call is refused and the rest dropped,
/// and the connection lives on.
void RpcServerSession::JudgeBegun(FrameReader& frames) {
  constexpr size_t kHeadersMax = 4 << 10;
  const auto frame = frames.begun();
  if (!established() || !frame || frame->length <= kCall.bytes || frame->length > options_.frame_bytes_max) return;
  std::string_view part = frame->part;
  const std::optional<std::string_view> header_bytes = TakeDelimited(part);
  const std::optional<std::string_view> method_bytes = header_bytes ? TakeDelimited(part) : std::nullopt;
  RequestHeaderView header;
  MethodHeaderView method;
  if (!method_bytes && frame->part.size() < kHeadersMax) return;
  const bool call = method_bytes && ParseRequestHeader(*header_bytes, header) && header.call_id >= 0 &&
                    ParseMethodHeader(*method_bytes, method);
  if (!call) return FatalHeader(kCallIdAuthFailed, "A long message without the headers of a call");
  const base::BudgetKind& kind = CallKind(method.method);
  if (frame->length <= kind.bytes) return;
  const auto at = std::lower_bound(pending_.begin(), pending_.end(), header.call_id);
  if (at != pending_.end() && *at == header.call_id) return FatalHeader(header.call_id, "Call id is in use");
  pending_.insert(at, header.call_id);
  RefuseTooLong(kind, header.call_id, method.method, frame->length);
  frames.SkipBegun();
}

void RpcServerSession::RefuseTooLong(const base::BudgetKind& kind, int32_t call_id, std::string_view method,
                                     size_t length) {
  handler_->OnTooLong(kind);
  Fail(call_id, exceptions::kIo, std::string(method.substr(0, 100)) + ": " + base::Budget(kind, length).error().message,
       RpcErrorCodeProto::kErrorRpcServer);
}

bool RpcServerSession::TakePending(int32_t call_id) {
  const auto at = std::lower_bound(pending_.begin(), pending_.end(), call_id);
  if (closing_ || at == pending_.end() || *at != call_id) return false;
  pending_.erase(at);
  return true;
}

void RpcServerSession::Reply(int32_t call_id, std::string_view response) {
  if (!TakePending(call_id)) return;
  // RpcResponseHeaderProto{call_id, status SUCCESS, version 9}, written without the struct: every answer has it.
  std::string header;
  wire::proto::PutUInt(header, 1 << 3, static_cast<uint32_t>(call_id));
  wire::proto::PutUInt(header, 2 << 3, 0);
  wire::proto::PutUInt(header, 3 << 3, kIpcVersion);
  const size_t start = output_.size();
  output_.reserve(start + response.size() + header.size() + 12);
  FrameWriter frame(output_);
  frame.DelimitedBytes(header);
  frame.DelimitedBytes(response);
  frame.Finish();
  Seal(start);
}

void RpcServerSession::Fail(int32_t call_id, std::string_view java_class, std::string_view message,
                            RpcErrorCodeProto detail) {
  if (!TakePending(call_id)) return;
  RpcResponseHeaderProto header;
  header.call_id = static_cast<uint32_t>(call_id);
  header.status = RpcStatusProto::kError;
  header.server_ipc_version_num = kIpcVersion;
  header.exception_class_name = java_class;
  header.error_msg = message;
  header.error_detail = detail;
  AppendResponse(header);
}

void RpcServerSession::AppendResponse(const RpcResponseHeaderProto& header) {
  const size_t start = output_.size();
  FrameWriter frame(output_);
  frame.Delimited(header);
  frame.Finish();
  Seal(start);
}

void RpcServerSession::Seal(size_t start) {
  if (!sealed_) return;
  base::Result<std::string> wrapped = sealed_->layer->Wrap(std::string_view(output_).substr(start));
  output_.resize(start);
  if (!wrapped) {
    closing_ = true;
    return;
  }
  RpcSaslProto message;
  message.state = RpcSaslStateProto::kWrap;
  message.token = std::move(*wrapped);
  AppendSasl(message);
}

void RpcServerSession::SendSasl(const RpcSaslProto& message) {
  const size_t start = output_.size();
  AppendSasl(message);
  Seal(start);
}

void RpcServerSession::AppendSasl(const RpcSaslProto& message) {
  RpcResponseHeaderProto header;
  header.call_id = static_cast<uint32_t>(kCallIdSasl);
  header.status = RpcStatusProto::kSuccess;
  header.server_ipc_version_num = kIpcVersion;
  header.client_id = "";
  header.retry_count = -1;
  FrameWriter frame(output_);
  frame.Delimited(header);
  frame.Delimited(message);
  frame.Finish();
}

void RpcServerSession::Fatal(int32_t call_id, RpcErrorCodeProto detail, std::string_view java_class,
                             std::string_view message) {
  if (detail == RpcErrorCodeProto::kFatalUnauthorized && !established()) {
    using Refused = Handler::Refused;
    handler_->OnRefused(stage_ != Stage::kContext ? Refused::kLogin
                        : setup_->judged          ? Refused::kRight
                                                  : Refused::kName,
                        message);
  }
  RpcResponseHeaderProto header;
  header.call_id = static_cast<uint32_t>(call_id);
  header.status = RpcStatusProto::kFatal;
  header.server_ipc_version_num = kIpcVersion;
  header.exception_class_name = java_class;
  header.error_msg = message;
  header.error_detail = detail;
  header.client_id = "";
  header.retry_count = -1;
  AppendResponse(header);
  closing_ = true;
}

void RpcServerSession::FatalDecoding(int32_t call_id, std::string_view message, const base::Status& why) {
  Fatal(call_id, RpcErrorCodeProto::kFatalDeserializingRequest, exceptions::kRpcServer,
        "Error decoding " + std::string(message) + ": " + std::string(exceptions::kInvalidProtocolBuffer) + ": " +
            (why.ok() ? "malformed" : why.error().message));
}

void RpcServerSession::FatalHeader(int32_t call_id, std::string_view message) {
  Fatal(call_id, RpcErrorCodeProto::kFatalInvalidRpcHeader, exceptions::kRpcServer, message);
}

void RpcServerSession::FatalSasl(const RemoteException& reason) {
  Fatal(kCallIdSasl, RpcErrorCodeProto::kFatalUnauthorized, reason.class_name, reason.message);
}

}  // namespace fairlead::endpoints::yarn
