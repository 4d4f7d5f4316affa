#include "shell/base/farewell.h"

#include <algorithm>
#include <cstdint>

#include "endpoints/yarn/exceptions.h"
#include "process/http/http.h"
#include "wire/hadoop_rpc/frames.h"
#include "wire/hadoop_rpc/rpc.h"

namespace fairlead::shell {

namespace {

constexpr std::string_view kMethods[] = {"GET ", "HEAD ", "POST ", "PUT ", "DELETE ", "OPTIONS ", "TRACE "};

uint64_t BigEndian(std::string_view bytes) {
  uint64_t out = 0;
  for (const char c : bytes) out = out << 8 | static_cast<unsigned char>(c);
  return out;
}

void AppendBigEndian(std::string& out, uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

/// Server.Connection.setupBadVersionResponse and doSaslReply: a header alone, with the id of a login.
std::string HadoopRefusal(const std::string& why) {
  namespace h = wire::hadoop_rpc;
  h::RpcResponseHeaderProto header;
  header.call_id = static_cast<uint32_t>(h::kCallIdAuthFailed);
  header.status = h::RpcStatusProto::kFatal;
  header.server_ipc_version_num = h::kIpcVersion;
  header.exception_class_name = endpoints::yarn::exceptions::kAccessControl;
  header.error_msg = why;
  header.error_detail = h::RpcErrorCodeProto::kFatalUnauthorized;
  header.client_id = "";
  header.retry_count = -1;
  std::string out;
  h::FrameWriter frame(out);
  frame.Delimited(header);
  frame.Finish();
  return out;
}

std::string HttpRefusal(const std::string& why) {
  const std::string body = why + "\n";
  return "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body;
}

// Of Spark's transport (org.apache.spark.network.protocol): length of the frame, type, id of the request.
constexpr size_t kFrameHead = 8 + 1 + 8;
constexpr char kRpcRequest = 3;
constexpr char kRpcFailure = 5;

std::string SparkRefusal(std::string_view request_id, const std::string& why) {
  std::string out;
  AppendBigEndian(out, kFrameHead + 4 + why.size(), 8);
  out.push_back(kRpcFailure);
  out.append(request_id);
  AppendBigEndian(out, why.size(), 4);
  return out + why;
}

}  // namespace

std::optional<std::string> FarewellOf(std::string_view first, const std::string& why) {
  constexpr std::string_view kHadoop = "hrpc";
  const auto begins = [&](std::string_view word) { return word.starts_with(first.substr(0, word.size())); };
  const auto is = [&](std::string_view word) { return first.size() >= word.size() && begins(word); };
  if (is(kHadoop)) return HadoopRefusal(why);
  if (std::ranges::any_of(kMethods, is)) return HttpRefusal(why);
  if (begins(kHadoop) || std::ranges::any_of(kMethods, begins)) return std::nullopt;
  if (first.front() != 0) return "";
  if (first.size() < kFrameHead) return std::nullopt;
  const bool asks = BigEndian(first.substr(0, 8)) >= kFrameHead && first[8] == kRpcRequest;
  return asks ? SparkRefusal(first.substr(9, 8), why) : "";
}

}  // namespace fairlead::shell
