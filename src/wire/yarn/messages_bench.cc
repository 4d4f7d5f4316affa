// Decoding and encoding of the hot messages. Sizes as in a busy cluster: asks of one priority on a host, a rack and
// anywhere; heartbeats of nodes with some dozen containers.
#include <benchmark/benchmark.h>

#include "base/check.h"
#include "wire/hadoop_rpc/headers.h"
#include "wire/yarn/master.h"
#include "wire/yarn/tracker.h"

namespace fairlead::wire::yarn {
namespace {

ContainerIdProto Id(int64_t number) {
  ContainerIdProto id;
  id.app_attempt_id.emplace().attempt_id = 1;
  id.app_attempt_id->application_id = ApplicationIdProto{.id = 7, .cluster_timestamp = 1700000000000};
  id.id = number;
  return id;
}

ResourceProto Size() {
  ResourceProto size;
  size.memory = 4096;
  size.virtual_cores = 2;
  size.resource_value_map = {ResourceInformationProto{.key = "memory-mb", .value = 4096, .units = "Mi"},
                             ResourceInformationProto{.key = "vcores", .value = 2, .units = ""}};
  return size;
}

AllocateRequestProto Request() {
  AllocateRequestProto request;
  for (const char* where : {"host-1234.example.org", "/rack-17", "*"}) {
    ResourceRequestProto& ask = request.ask.emplace_back();
    ask.priority.emplace().priority = 20;
    ask.resource_name = where;
    ask.capability = Size();
    ask.num_containers = 40;
    ask.relax_locality = true;
    ask.allocation_request_id = 0;
  }
  request.response_id = 1234;
  request.progress = 0.5F;
  return request;
}

AllocateResponseProto Response(int containers) {
  AllocateResponseProto response;
  response.response_id = 1235;
  response.limit = Size();
  response.num_cluster_nodes = 5000;
  for (int i = 0; i < containers; ++i) {
    ContainerProto& container = response.allocated_containers.emplace_back();
    container.id = Id(i);
    container.node_id = NodeIdProto{.host = "host-1234.example.org", .port = 45454};
    container.node_http_address = "host-1234.example.org:8042";
    container.resource = Size();
    container.priority.emplace().priority = 20;
    container.container_token = hadoop_rpc::TokenProto{.identifier = std::string(150, 'i'),
                                                       .password = std::string(20, 'p'),
                                                       .kind = "ContainerToken",
                                                       .service = "10.0.0.1:45454"};
  }
  return response;
}

NodeHeartbeatRequestProto Heartbeat(int containers) {
  NodeHeartbeatRequestProto heartbeat;
  NodeStatusProto& status = heartbeat.node_status.emplace();
  status.node_id = NodeIdProto{.host = "host-1234.example.org", .port = 45454};
  status.response_id = 99;
  for (int i = 0; i < containers; ++i) {
    ContainerStatusProto& one = status.containers_statuses.emplace_back();
    one.container_id = Id(i);
    one.state = ContainerStateProto::kRunning;
    one.diagnostics = "";
    one.exit_status = -1000;
    one.capability = Size();
  }
  return heartbeat;
}

template <class Message>
void Decode(benchmark::State& state, const Message& message) {
  const std::string bytes = message.Encode();
  for (auto _ : state) {
    Message parsed;
    FL_CHECK(parsed.ParseFrom(bytes, wire::hadoop_rpc::kAnswer).ok(), "the message is good");
    benchmark::DoNotOptimize(parsed);
  }
  state.SetBytesProcessed(static_cast<int64_t>(bytes.size()) * state.iterations());
}

template <class Message>
void EncodeInto(benchmark::State& state, const Message& message) {
  std::string out;
  for (auto _ : state) {
    out.clear();
    message.AppendTo(out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetBytesProcessed(static_cast<int64_t>(out.size()) * state.iterations());
}

void AllocateRequestDecode(benchmark::State& state) { Decode(state, Request()); }
void AllocateRequestEncode(benchmark::State& state) { EncodeInto(state, Request()); }
void AllocateResponseDecode(benchmark::State& state) { Decode(state, Response(static_cast<int>(state.range(0)))); }
void AllocateResponseEncode(benchmark::State& state) { EncodeInto(state, Response(static_cast<int>(state.range(0)))); }
void HeartbeatDecode(benchmark::State& state) { Decode(state, Heartbeat(static_cast<int>(state.range(0)))); }
void HeartbeatEncode(benchmark::State& state) { EncodeInto(state, Heartbeat(static_cast<int>(state.range(0)))); }
BENCHMARK(AllocateRequestDecode);
BENCHMARK(AllocateRequestEncode);
BENCHMARK(AllocateResponseDecode)->Arg(0)->Arg(1)->Arg(10);
BENCHMARK(AllocateResponseEncode)->Arg(0)->Arg(1)->Arg(10);
BENCHMARK(HeartbeatDecode)->Arg(0)->Arg(20);
BENCHMARK(HeartbeatEncode)->Arg(0)->Arg(20);

/// The two headers in front of every call, without a copy.
void RequestHeaders(benchmark::State& state) {
  hadoop_rpc::RpcRequestHeaderProto header;
  header.rpc_kind = hadoop_rpc::RpcKindProto::kProtocolBuffer;
  header.rpc_op = hadoop_rpc::RpcOperationProto::kFinalPacket;
  header.call_id = 12345;
  header.client_id = "0123456789abcdef";
  hadoop_rpc::RequestHeaderProto method;
  method.method_name = "allocate";
  method.declaring_class_protocol_name = "org.apache.hadoop.yarn.api.ApplicationMasterProtocolPB";
  method.client_protocol_version = 1;
  const std::string header_bytes = header.Encode();
  const std::string method_bytes = method.Encode();
  for (auto _ : state) {
    hadoop_rpc::RequestHeaderView header_view;
    hadoop_rpc::MethodHeaderView method_view;
    FL_CHECK(ParseRequestHeader(header_bytes, header_view) && ParseMethodHeader(method_bytes, method_view), "good");
    benchmark::DoNotOptimize(method_view);
  }
}
BENCHMARK(RequestHeaders);

}  // namespace
}  // namespace fairlead::wire::yarn
