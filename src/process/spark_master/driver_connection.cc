#include "process/spark_master/driver_connection.h"

#include "endpoints/spark/rpc_message.h"

namespace fairlead::process::spark_master {

namespace es = endpoints::spark;
namespace st = wire::spark_transport;

void DriverConnection::Start(Callbacks callbacks) {
  callbacks_ = std::move(callbacks);
  stream_->Start(this);
}

void DriverConnection::Write(std::string bytes) {
  if (closed_) return;
  stream_->Write(std::move(bytes));
  if (stream_->unsent() > kUnsentBytesMax) Close("it takes no answers");
}

void DriverConnection::Send(const es::RpcMessage& message) {
  std::string frame;
  st::AppendOneWayMessage(frame, es::EncodeRpcMessage(message));
  Write(std::move(frame));
}

void DriverConnection::Reply(int64_t request, const std::string& content) {
  std::string frame;
  st::AppendRpcResponse(frame, request, content);
  Write(std::move(frame));
}

void DriverConnection::Refuse(int64_t request, const std::string& why) {
  std::string frame;
  st::AppendRpcFailure(frame, request, why);
  Write(std::move(frame));
}

void DriverConnection::Close(const std::string& reason) {
  if (closed_) return;
  closed_ = true;
  stream_->CloseAfterFlush();
  callbacks_.on_closed(reason);
}

void DriverConnection::OnClosed(const std::string& reason) {
  if (closed_) return;
  closed_ = true;
  callbacks_.on_closed(reason);
}

void DriverConnection::OnData(std::string_view bytes) {
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
        return Close("a stream of bytes, which a master does not take");
      case st::FrameReader::Outcome::kError:
        return Close(reader_.error());
    }
  }
}

void DriverConnection::OnFrame(const st::Frame& frame) {
  const bool ask = frame.type == st::FrameType::kRpcRequest;
  if (!ask && frame.type != st::FrameType::kOneWayMessage) {
    return Close("a frame that a master does not take: " + std::string(EnumName(frame.type)));
  }
  if (es::BeginsAuthentication(frame.body)) {
    constexpr const char* kWhy = "it wants to authenticate: spark.authenticate is not supported here, set it to false";
    if (ask) Refuse(frame.id, kWhy);
    return Close(kWhy);
  }
  const auto envelope = es::DecodeRpcMessage(frame.body);
  if (!envelope) return Close(envelope.error().message);
  auto message = es::DecodeDriverMessage(envelope->content);
  if (!message) {
    if (ask) Refuse(frame.id, message.error().message);
    return Close(message.error().message);
  }
  callbacks_.on_message(std::move(*message), ask ? std::optional(frame.id) : std::nullopt);
}

}  // namespace fairlead::process::spark_master
