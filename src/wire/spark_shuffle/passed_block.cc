#include "wire/spark_shuffle/passed_block.h"

#include "base/bytes.h"

namespace fairlead::wire::spark_shuffle {
namespace {
constexpr char kPassedAsFile = 1;
}  // namespace

std::string EncodePassedFile(int64_t offset, int64_t length) {
  std::string out(1, kPassedAsFile);
  base::ByteWriter writer(out);
  writer.I64(offset);
  writer.I64(length);
  return out;
}

base::Result<PassedBlock> DecodePassedBlock(std::string_view body) {
  PassedBlock out;
  if (!body.empty() && body[0] == kPassedAsBytes) {
    out.bytes = body.substr(1);
    return out;
  }
  if (body.size() != 17 || body[0] != kPassedAsFile) return base::Error{"neither bytes nor the range of a file"};
  out.in_file = true;
  out.offset = base::BigEndian<int64_t>(body.substr(1));
  out.length = base::BigEndian<int64_t>(body.substr(9));
  if (out.offset < 0 || out.length <= 0 || out.offset > INT64_MAX - out.length) {
    return base::Error{"not a range of a file: " + std::to_string(out.length) + " bytes from " +
                       std::to_string(out.offset)};
  }
  return out;
}

std::string LocalServiceName(const std::string& host, uint16_t port) {
  return "fairlead-shuffle/" + (host.empty() ? "*" : host) + ":" + std::to_string(port);
}

}  // namespace fairlead::wire::spark_shuffle
