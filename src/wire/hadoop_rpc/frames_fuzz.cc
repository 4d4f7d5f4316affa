// Framing and the hand-read headers: any cut of the bytes gives the same frames, and the views agree with the structs.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "wire/hadoop_rpc/frames.h"
#include "wire/hadoop_rpc/headers.h"

namespace {

using namespace fairlead::wire::hadoop_rpc;

std::vector<std::string> Cut(std::string_view bytes, size_t cut) {
  FrameReader reader(1 << 16);
  std::vector<std::string> frames;
  while (!bytes.empty() && !reader.failed()) {
    reader.Push(bytes.substr(0, cut));
    bytes.remove_prefix(std::min(cut, bytes.size()));
    while (const auto frame = reader.Next()) frames.emplace_back(*frame);
    reader.Keep();
  }
  return frames;
}

void CompareHeaders(std::string_view bytes) {
  RequestHeaderView request;
  RpcRequestHeaderProto request_struct;
  const bool ok = ParseRequestHeader(bytes, request);
  if (request_struct.ParseFrom(bytes, kSetup)) {
    FL_CHECK(ok && request.call_id == request_struct.call_id && request.client_id == request_struct.client_id &&
                 request.retry_count == request_struct.RetryCount() &&
                 request.has_kind == request_struct.rpc_kind.has_value(),
             "request header");
  }
  MethodHeaderView method;
  RequestHeaderProto method_struct;
  const bool method_ok = ParseMethodHeader(bytes, method);
  FL_CHECK(method_ok == method_struct.ParseFrom(bytes, kSetup).ok(), "method header");
  FL_CHECK(!method_ok ||
               (method.method == method_struct.method_name && method.version == method_struct.client_protocol_version),
           "method header");
  ResponseHeaderView response;
  RpcResponseHeaderProto response_struct;
  const bool response_ok = ParseResponseHeader(bytes, response);
  FL_CHECK(response_ok == response_struct.ParseFrom(bytes, kSetup).ok(), "response header");
  FL_CHECK(!response_ok || (response.error == response_struct.ErrorMsg() && response.status == response_struct.status),
           "response header");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto whole = Cut(bytes, bytes.size());
  FL_CHECK(whole == Cut(bytes, 1 + data[0]), "frames depend on the cut");
  for (std::string_view frame : whole) {
    while (const auto part = TakeDelimited(frame)) CompareHeaders(*part);
  }
  CompareHeaders(bytes);
  return 0;
}
