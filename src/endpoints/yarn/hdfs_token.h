#pragma once

#include <string>

#include "endpoints/yarn/rpc_identity.h"

namespace fairlead::endpoints::yarn {

// Kinds of delegation tokens of HDFS, by the file system that got them (DelegationTokenIdentifier, WebHdfsConstants).
inline constexpr char kHdfsTokenKind[] = "HDFS_DELEGATION_TOKEN";
inline constexpr char kWebHdfsTokenKind[] = "WEBHDFS delegation";
inline constexpr char kSwebHdfsTokenKind[] = "SWEBHDFS delegation";

bool IsHdfsToken(const RpcToken& token);
/// A token of HDFS as the web port of a NameNode takes it, which knows one kind alone.
std::string EncodeHdfsUrlToken(RpcToken token);

}  // namespace fairlead::endpoints::yarn
