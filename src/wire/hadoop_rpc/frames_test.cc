#include "wire/hadoop_rpc/frames.h"

#include <gtest/gtest.h>

#include "wire/hadoop_rpc/headers.h"

namespace fairlead::wire::hadoop_rpc {
namespace {

TEST(FrameReader, WholeFramesAreNotCopied) {
  FrameReader reader(100);
  const std::string bytes("\0\0\0\x02hi\0\0\0\0\0\0\0\x03yo", 16);
  reader.Push(bytes);
  const auto first = reader.Next();
  ASSERT_TRUE(first);
  EXPECT_EQ(*first, "hi");
  EXPECT_EQ(static_cast<const void*>(first->data()), bytes.data() + 4);
  EXPECT_EQ(reader.Next(), "");
  EXPECT_FALSE(reader.Next());
  reader.Keep();
  EXPECT_TRUE(reader.partial());
  EXPECT_FALSE(reader.ready());
  reader.Push("!");
  reader.Keep();  // not wanted yet
  EXPECT_TRUE(reader.ready());
  reader.Push("");
  EXPECT_EQ(reader.Next(), "yo!");
  reader.Keep();
  EXPECT_FALSE(reader.partial());
}

TEST(FrameReader, LimitIsJudgedByTheLengthAlone) {
  FrameReader reader(5);
  reader.Push(std::string_view("\0\0\0\x05", 4));
  EXPECT_FALSE(reader.Next());
  EXPECT_FALSE(reader.failed());
  FrameReader above(5);
  above.Push(std::string_view("\0\0\0\x06", 4));
  EXPECT_FALSE(above.Next());
  EXPECT_TRUE(above.failed());
  EXPECT_EQ(above.refused_length(), 6);
  FrameReader negative(SIZE_MAX);
  negative.Push("\xff\xff\xff\xff");
  EXPECT_FALSE(negative.Next());
  EXPECT_TRUE(negative.failed());
}

TEST(TakeDelimited, BoundsAndLongVarints) {
  std::string_view bytes("\x02hi\x00rest", 8);
  EXPECT_EQ(TakeDelimited(bytes), "hi");
  EXPECT_EQ(TakeDelimited(bytes), "");
  EXPECT_EQ(bytes, "rest");
  for (const char* bad : {"\x05hi", "\xff\xff\xff\xff\xff\x01", "\x80", ""}) {
    std::string_view view(bad);
    EXPECT_FALSE(TakeDelimited(view)) << bad;
  }
}

TEST(FrameWriter, LengthsOfFrameAndMessages) {
  std::string out = "before";
  FrameWriter frame(out);
  frame.DelimitedBytes("hi");
  frame.DelimitedBytes(std::string(200, 'x'));
  frame.Finish();
  EXPECT_EQ(out.substr(0, 13), std::string("before\0\0\0\xcd\x02hi", 13));
  std::string_view payload = std::string_view(out).substr(10);
  EXPECT_EQ(payload.size(), 0xcdU);
  TakeDelimited(payload);
  EXPECT_EQ(TakeDelimited(payload), std::string(200, 'x'));
}

TEST(Headers, ViewsReadWhatTheStructsWrite) {
  RpcRequestHeaderProto request;
  request.rpc_kind = RpcKindProto::kProtocolBuffer;
  request.rpc_op = RpcOperationProto::kFinalPacket;
  request.call_id = -33;
  request.client_id = "client";
  request.retry_count = 5;
  request.trace_info.emplace().trace_id = 1;
  request.caller_context.emplace().context = "ctx";
  request.state_id = 9;
  RequestHeaderView view;
  const std::string request_bytes = request.Encode();
  ASSERT_TRUE(ParseRequestHeader(request_bytes, view));
  EXPECT_TRUE(view.has_kind && view.has_operation);
  EXPECT_EQ(view.call_id, -33);
  EXPECT_EQ(view.retry_count, 5);
  EXPECT_EQ(view.client_id, "client");
  EXPECT_EQ(view.kind, RpcKindProto::kProtocolBuffer);

  RpcResponseHeaderProto response;
  response.call_id = static_cast<uint32_t>(-1);
  response.status = RpcStatusProto::kFatal;
  response.exception_class_name = "c";
  response.error_msg = "m";
  response.error_detail = RpcErrorCodeProto::kFatalUnauthorized;
  ResponseHeaderView answer;
  const std::string bytes = response.Encode();
  ASSERT_TRUE(ParseResponseHeader(bytes, answer));
  EXPECT_EQ(answer.call_id, -1);
  EXPECT_EQ(answer.status, RpcStatusProto::kFatal);
  EXPECT_EQ(answer.exception_class, "c");
  EXPECT_EQ(answer.error, "m");
  EXPECT_EQ(answer.detail, RpcErrorCodeProto::kFatalUnauthorized);
}

TEST(Headers, PreambleIsHadoops) { EXPECT_EQ(EncodePreamble(kAuthSasl), std::string("hrpc\x09\0\xdf", 7)); }

}  // namespace
}  // namespace fairlead::wire::hadoop_rpc
