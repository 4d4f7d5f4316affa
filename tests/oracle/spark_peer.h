#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "endpoints/spark/message_bounds.h"
#include "endpoints/spark/rpc_message.h"
#include "env/net.h"
#include "oracle/spark_rpc_recording.h"
#include "wire/java_stream/reader.h"
#include "wire/spark_transport/frames.h"

// Peers of a simulated Standalone Master that send what was recorded.

namespace fairlead::oracle {

inline const char* const kSparkFolder = FAIRLEAD_SOURCE_DIR "/tests/oracles/spark-rpc";
inline constexpr const char* kDeployMessages = "org.apache.spark.deploy.DeployMessages$";

/// The classes of a recording.
inline wire::java_stream::ClassCatalog CatalogOf(const std::string& release) {
  wire::java_stream::ClassCatalog catalog;
  const auto classes = ReadSparkClasses(kSparkFolder, release);
  for (const auto& entry : *classes) {
    wire::java_stream::ClassShape shape{
        entry.at("class"), entry.at("suid"), entry.value("flags", wire::java_stream::kSerializable), {}, ""};
    if (entry.contains("parent") && entry.at("parent").is_string()) shape.super = entry.at("parent");
    for (const auto& field : entry.at("fields")) shape.fields.emplace_back(field.at("name"), field.at("type"));
    catalog[shape.name] = shape;
  }
  return catalog;
}

/// A connection to the Spark master that notes what comes.
class Peer : private env::StreamHandler {
 public:
  struct Received {
    wire::spark_transport::FrameType type;
    int64_t id;
    std::string content;  // an object stream, or the text of a failure
    std::string class_name;
  };

  explicit Peer(std::unique_ptr<env::Stream> stream) : stream_(std::move(stream)) { stream_->Start(this); }
  void Write(const std::string& bytes) { stream_->Write(bytes); }
  void Close() { stream_->Close(); }
  bool closed() const { return closed_; }
  const std::vector<Received>& received() const { return received_; }
  /// The last one of this class; null when there is none.
  const Received* Find(const std::string& class_name) const {
    for (size_t i = received_.size(); i-- > 0;) {
      if (received_[i].class_name == class_name) return &received_[i];
    }
    return nullptr;
  }

 private:
  void OnClosed(const std::string&) override { closed_ = true; }
  void OnData(std::string_view bytes) override {
    reader_.Feed(bytes);
    while (reader_.Next() == wire::spark_transport::FrameReader::Outcome::kFrame) {
      const wire::spark_transport::Frame& frame = reader_.frame();
      Received one{frame.type, frame.id, std::string(frame.body), ""};
      if (frame.type == wire::spark_transport::FrameType::kRpcFailure) one.content = frame.text;
      if (frame.type == wire::spark_transport::FrameType::kOneWayMessage)
        one.content = endpoints::spark::DecodeRpcMessage(frame.body)->content;
      const auto graph = wire::java_stream::ReadStream(one.content, endpoints::spark::kSparkMessage);
      if (graph.ok()) one.class_name = graph->ClassName(graph->Root());
      received_.push_back(std::move(one));
    }
  }

  std::unique_ptr<env::Stream> stream_;
  wire::spark_transport::FrameReader reader_{1 << 20};
  bool closed_ = false;
  std::vector<Received> received_;
};

}  // namespace fairlead::oracle
