#include "process/spark_rpc/connection.h"

#include <span>
#include <utility>

#include "endpoints/spark/driver_messages.h"

namespace fairlead::process::spark_rpc {

namespace es = endpoints::spark;
namespace st = wire::spark_transport;

Connection::Connection(std::unique_ptr<env::Stream> stream, env::Loop& loop, const Security& security, Side side)
    : stream_(std::move(stream)) {
  if (!security.authenticates()) return;
  const auto random = [&loop](std::span<uint8_t> bytes) { loop.RandomBytes(bytes); };
  if (side == Side::kDialled) server_ = std::make_unique<st::ServerHandshake>(security, random);
  if (side == Side::kDials) client_ = std::make_unique<st::ClientHandshake>(security, random);
}

void Connection::Start(Callbacks callbacks) {
  callbacks_ = std::move(callbacks);
  stream_->Start(this);
  if (client_) AskHandshake(client_->first());
}

void Connection::Write(std::string bytes) {
  if (!handshaking()) {
    std::string encrypted;
    if (cipher_) cipher_->Encrypt(bytes, encrypted);
    return WriteNow(cipher_ ? std::move(encrypted) : std::move(bytes));
  }
  held_ += bytes;
  if (held_.size() > kUnsentBytesMax) Close("it does not authenticate");
}

void Connection::WriteNow(std::string bytes) {
  if (closed_) return;
  stream_->Write(std::move(bytes));
  if (stream_->unsent() > kUnsentBytesMax) Close("it takes no answers");
}

// ---- the handshake -------------------------------------------------------------------------------------------------

void Connection::AskHandshake(std::string_view body) {
  std::string frame;
  handshake_request_ = ++last_request_;
  st::AppendRpcRequest(frame, handshake_request_, body);
  WriteNow(std::move(frame));
}

void Connection::OnHandshakeRequest(const st::Frame& frame) {
  if (!refusal_.empty()) return Close(refusal_);
  if (frame.type != st::FrameType::kRpcRequest) {
    refusal_ = "a message of one that has not authenticated";
    return Close(refusal_);
  }
  auto step = server_->Answer(frame.body);
  std::string answer;
  if (!step.ok()) {
    // It is the peer that closes: one that is cut off at once does not look at what it was told.
    refusal_ = step.error().message;
    st::AppendRpcFailure(answer, frame.id, refusal_);
    return WriteNow(std::move(answer));
  }
  if (step->refused) {
    st::AppendRpcFailure(answer, frame.id, step->body);
  } else {
    st::AppendRpcResponse(answer, frame.id, step->body);
  }
  WriteNow(std::move(answer));
  if (step->done) OnAuthenticated(std::move(step->cipher));
}

void Connection::OnHandshakeAnswer(const st::Frame& frame) {
  const bool refused = frame.type == st::FrameType::kRpcFailure;
  if ((!refused && frame.type != st::FrameType::kRpcResponse) || frame.id != handshake_request_) {
    return Close("a message of one that has not authenticated");
  }
  using Body = base::Result<std::string_view>;
  auto step = client_->Take(refused ? Body(base::Error{std::string(frame.text)}) : Body(frame.body));
  if (!step.ok()) return Close(step.error().message);
  refusal_ = client_->refusal();
  if (!step->done) return AskHandshake(step->body);
  OnAuthenticated(std::move(step->cipher));
}

/// What came in the clear behind the handshake, nobody vouches for: a recorded handshake can be sent again.
void Connection::OnAuthenticated(std::unique_ptr<st::ChannelCipher> cipher) {
  if (cipher && !reader_.at_end()) return Close("bytes in the clear behind a handshake");
  server_.reset();
  client_.reset();
  refusal_.clear();
  cipher_ = std::move(cipher);
  if (!held_.empty()) Write(std::exchange(held_, ""));
}

// ---- messages ------------------------------------------------------------------------------------------------------

void Connection::Send(const es::RpcMessage& message) {
  std::string frame;
  st::AppendOneWayMessage(frame, es::EncodeRpcMessage(message));
  Write(std::move(frame));
}

void Connection::Ask(const es::RpcMessage& message, Answer done) {
  std::string frame;
  asked_[++last_request_] = std::move(done);
  st::AppendRpcRequest(frame, last_request_, es::EncodeRpcMessage(message));
  Write(std::move(frame));
}

void Connection::Reply(int64_t request, const std::string& content) {
  std::string frame;
  st::AppendRpcResponse(frame, request, content);
  Write(std::move(frame));
}

void Connection::Refuse(int64_t request, const std::string& why) {
  std::string frame;
  st::AppendRpcFailure(frame, request, why);
  Write(std::move(frame));
}

void Connection::Close(const std::string& reason) {
  if (closed_) return;
  closed_ = true;
  refused_ = !reason.empty();
  stream_->CloseAfterFlush();
  callbacks_.on_closed(reason);
}

void Connection::OnClosed(const std::string& reason) {
  if (closed_) return;
  closed_ = true;
  callbacks_.on_closed(reason.empty() ? refusal_ : reason);
}

void Connection::OnData(std::string_view bytes) {
  if (cipher_) {
    decrypted_.clear();
    if (!cipher_->Decrypt(bytes, decrypted_).ok()) return Close("bytes that do not decrypt");
    bytes = decrypted_;
  }
  reader_.Feed(bytes);
  while (!closed_) {
    switch (reader_.Next()) {
      case st::FrameReader::Outcome::kNeedMore:
        return callbacks_.on_bytes();
      case st::FrameReader::Outcome::kFrame:
        ++messages_;
        OnFrame(reader_.frame());
        break;
      case st::FrameReader::Outcome::kRaw:
        return Close("a stream of bytes, which is not taken here");
      case st::FrameReader::Outcome::kError:
        return Close(reader_.error());
    }
  }
}

void Connection::OnAnswer(const st::Frame& frame) {
  const auto asked = asked_.extract(frame.id);
  if (asked.empty()) return;
  if (frame.type == st::FrameType::kRpcFailure) return asked.mapped()(base::Error{std::string(frame.text)});
  asked.mapped()(es::DecodeObject(frame.body));
}

void Connection::OnFrame(const st::Frame& frame) {
  if (server_) return OnHandshakeRequest(frame);
  if (client_) return OnHandshakeAnswer(frame);
  if (frame.type == st::FrameType::kRpcResponse || frame.type == st::FrameType::kRpcFailure) return OnAnswer(frame);
  const bool ask = frame.type == st::FrameType::kRpcRequest;
  if (!ask && frame.type != st::FrameType::kOneWayMessage) {
    return Close("a frame that does not belong here: " + std::string(EnumName(frame.type)));
  }
  if (es::BeginsAuthentication(frame.body)) {
    constexpr const char* kWhy =
        "it authenticates and this side does not: set spark.authenticate=true and the secret here, or false there";
    if (ask) Refuse(frame.id, kWhy);
    return Close(kWhy);
  }
  auto envelope = es::DecodeRpcMessage(frame.body);
  if (!envelope) return Close(envelope.error().message);
  auto content = es::DecodeObject(envelope->content);
  if (!content) {
    if (ask) Refuse(frame.id, content.error().message);
    return Close(content.error().message);
  }
  callbacks_.on_message({std::move(envelope->endpoint), std::move(envelope->sender), std::move(*content),
                         ask ? std::optional(frame.id) : std::nullopt, envelope->content.size()});
}

}  // namespace fairlead::process::spark_rpc
