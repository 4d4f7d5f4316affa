#include "shell/nm/ifile.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace fairlead::shell {
namespace {

std::string UnhexLogs(std::string_view hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    out.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return out;
}

constexpr char kMasterText[] = "text of the master\n";
const std::string kSysLog = std::string(100, 'k') + "\n";

IFileHead Head() {
  IFileHead head;
  head.app = "application_1700000000000_0007";
  head.user = "ann";
  head.view_acl = "bob ops";
  head.node_id = "h:1";
  head.file_name = "h_1";
  head.uploaded = {1795957297050};
  return head;
}

std::string WriteTwoLogs(IFileHead head) {
  std::string bytes;
  IFileWriter writer(std::move(head), [&](std::string_view more) {
    bytes += more;
    return base::Status();
  });
  EXPECT_TRUE(writer.Begin());
  EXPECT_TRUE(writer.BeginLog("container_1700000000000_0007_01_000001", "stdout", {1700000000001}));
  EXPECT_TRUE(writer.LogBytes(kMasterText));
  EXPECT_TRUE(writer.EndLog());
  EXPECT_TRUE(writer.BeginLog("container_1700000000000_0007_01_000002", "syslog.1", {1700000000002}));
  EXPECT_TRUE(writer.LogBytes(std::string_view(kSysLog).substr(0, 60)));
  EXPECT_TRUE(writer.LogBytes(std::string_view(kSysLog).substr(60)));
  EXPECT_TRUE(writer.EndLog());
  EXPECT_TRUE(writer.Finish());
  return bytes;
}

// What LogAggregationIndexedFileController of Hadoop 3.4.3 wrote of the same two logs.
constexpr char kHead[] = "63766642d568707b397b9addf209494d687026d766c0cc4588e28957ad1fa9c8";
constexpr char kTail[] =
    "aced00057372006e6f72672e6170616368652e6861646f6f702e7961726e2e6c6f676167677265676174696f6e2e66696c65636f6e74"
    "726f6c6c65722e6966696c652e4c6f674167677265676174696f6e496e646578656446696c65436f6e74726f6c6c657224496e646578"
    "65644c6f67734d65746100000001443de92d02000649000776657273696f6e4c000461636c7374000f4c6a6176612f7574696c2f4d61"
    "703b4c000c636f6d70726573734e616d657400124c6a6176612f6c616e672f537472696e673b4c00086c6f674d657461737400104c6a"
    "6176612f7574696c2f4c6973743b4c00066e6f6465496471007e00024c00047573657271007e0002787000000001737200116a617661"
    "2e7574696c2e486173684d61700507dac1c31660d103000246000a6c6f6164466163746f724900097468726573686f6c6478703f4000"
    "000000000c770800000010000000017e7200386f72672e6170616368652e6861646f6f702e7961726e2e6170692e7265636f7264732e"
    "4170706c69636174696f6e4163636573735479706500000000000000001200007872000e6a6176612e6c616e672e456e756d00000000"
    "000000001200007870740008564945575f415050740007626f62206f7073787400046e6f6e65737200136a6176612e7574696c2e4172"
    "7261794c6973747881d21d99c7619d03000149000473697a657870000000017704000000017372007b6f72672e6170616368652e6861"
    "646f6f702e7961726e2e6c6f676167677265676174696f6e2e66696c65636f6e74726f6c6c65722e6966696c652e4c6f674167677265"
    "676174696f6e496e646578656446696c65436f6e74726f6c6c657224496e64657865645065724167677265676174696f6e4c6f674d65"
    "746100000000ea3455cf0200034a000f75706c6f616454696d655374616d704c00086c6f674d6574617371007e00014c001572656d6f"
    "74654e6f64654c6f6746696c654e616d6571007e00027870000001a227658f9a7371007e00053f4000000000000c7708000000100000"
    "0002740026636f6e7461696e65725f313730303030303030303030305f303030375f30315f3030303030317371007e000d0000000177"
    "0400000001737200716f72672e6170616368652e6861646f6f702e7961726e2e6c6f676167677265676174696f6e2e66696c65636f6e"
    "74726f6c6c65722e6966696c652e4c6f674167677265676174696f6e496e646578656446696c65436f6e74726f6c6c657224496e6465"
    "78656446696c654c6f674d65746100000000000000010200064a001266696c65436f6d7072657373656453697a654a000866696c6553"
    "697a654a00106c6173744d6f64696669656454696d654a000a7374617274496e6465784c000b636f6e7461696e6572496471007e0002"
    "4c000866696c654e616d6571007e00027870000000000000001300000000000000130000018bcfe56801000000000000002071007e00"
    "127400067374646f757478740026636f6e7461696e65725f313730303030303030303030305f303030375f30315f3030303030327371"
    "007e000d000000017704000000017371007e0014000000000000006500000000000000650000018bcfe5680200000000000000337100"
    "7e00177400087379736c6f672e317878740003685f3178740003683a31740003616e6e000004c763766642d568707b397b9addf20949"
    "4d687026d766c0cc4588e28957ad1fa9c8";

TEST(IFile, SameBytesAsHadoop) {
  EXPECT_EQ(WriteTwoLogs(Head()), UnhexLogs(kHead) + kMasterText + kSysLog + UnhexLogs(kTail));
}

TEST(IFile, EachCompressedLogIsAZlibStreamOfItsOwn) {
  IFileHead head = Head();
  head.compress = true;
  const std::string bytes = WriteTwoLogs(head);
  // Of the same text by Hadoop, whose zlib may choose other codes: what counts is what comes out.
  const auto inflate = [&](size_t& at) {
    z_stream state{};
    char text[256];
    EXPECT_EQ(::inflateInit(&state), Z_OK);
    state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + at));
    state.avail_in = static_cast<uInt>(bytes.size() - at);
    state.next_out = reinterpret_cast<Bytef*>(text);
    state.avail_out = sizeof text;
    EXPECT_EQ(::inflate(&state, Z_FINISH), Z_STREAM_END);
    at += state.total_in;
    const std::string out(text, state.total_out);
    ::inflateEnd(&state);
    return out;
  };
  size_t at = 32;
  EXPECT_EQ(inflate(at), kMasterText);
  EXPECT_EQ(inflate(at), kSysLog);
  EXPECT_EQ(bytes.substr(at, 4), UnhexLogs("aced0005")) << "the index follows the logs";
  EXPECT_NE(bytes.find("gz"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::shell
