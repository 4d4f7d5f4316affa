#include "process/spark_rpc/connection.h"

#include "endpoints/spark/driver_messages.h"

namespace fairlead::process::spark_rpc {

namespace es = endpoints::spark;
namespace st = wire::spark_transport;

void Connection::Start(Callbacks callbacks) {
  callbacks_ = std::move(callbacks);
  stream_->Start(this);
}

void Connection::Write(std::string bytes) {
  if (closed_) return;
  stream_->Write(std::move(bytes));
  if (stream_->unsent() > kUnsentBytesMax) Close("it takes no answers");
}

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
  stream_->CloseAfterFlush();
  callbacks_.on_closed(reason);
}

void Connection::OnClosed(const std::string& reason) {
  if (closed_) return;
  closed_ = true;
  callbacks_.on_closed(reason);
}

void Connection::OnData(std::string_view bytes) {
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
  if (frame.type == st::FrameType::kRpcResponse || frame.type == st::FrameType::kRpcFailure) return OnAnswer(frame);
  const bool ask = frame.type == st::FrameType::kRpcRequest;
  if (!ask && frame.type != st::FrameType::kOneWayMessage) {
    return Close("a frame that does not belong here: " + std::string(EnumName(frame.type)));
  }
  if (es::BeginsAuthentication(frame.body)) {
    constexpr const char* kWhy = "it wants to authenticate: spark.authenticate is not supported here, set it to false";
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
                         ask ? std::optional(frame.id) : std::nullopt});
}

}  // namespace fairlead::process::spark_rpc
