#pragma once

namespace fairlead::engine {

/// The variable of a driver's environment that says where each HDFS of the configuration with which the job was
/// submitted is read by WebHDFS, by the name of its service or its NameNode's HOST[:PORT]:
/// "NAME=HOST:PORT[,HOST:PORT];NAME=...", and before these "=NAME;" where hdfs:///PATH is.
inline constexpr const char* kEnvNameNodes = "FAIRLEAD_NAME_NODES";

}  // namespace fairlead::engine
