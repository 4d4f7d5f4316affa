#include "endpoints/yarn/hdfs_token.h"

#include "endpoints/yarn/url_token.h"

namespace fairlead::endpoints::yarn {

bool IsHdfsToken(const RpcToken& token) {
  return token.kind == kHdfsTokenKind || token.kind == kWebHdfsTokenKind || token.kind == kSwebHdfsTokenKind;
}

std::string EncodeHdfsUrlToken(RpcToken token) {
  token.kind = kHdfsTokenKind;
  return EncodeUrlToken(token);
}

}  // namespace fairlead::endpoints::yarn
