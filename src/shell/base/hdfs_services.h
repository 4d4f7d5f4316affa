#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "config/hadoop_conf.h"
#include "endpoints/yarn/hdfs_token.h"
#include "env/net.h"

namespace fairlead::shell {

using endpoints::yarn::kHdfsTokenKind;
using endpoints::yarn::kSwebHdfsTokenKind;
using endpoints::yarn::kWebHdfsTokenKind;
inline constexpr char kHdfsProtocol[] = "org.apache.hadoop.hdfs.protocol.ClientProtocol";
inline constexpr char kNameNodePrincipal[] = "dfs.namenode.kerberos.principal";

/// The address of a host; "" of one that has none. May wait.
using AddressOf = std::function<std::string(const std::string& host)>;

/// The file systems of HDFS that a configuration names, as delegation tokens know them (dfs.nameservices,
/// dfs.ha.namenodes.NAME, dfs.namenode.rpc-address.NAME.ID; SecurityUtil.buildTokenService,
/// HAUtilClient.buildTokenServiceForLogicalUri).
class HdfsServices {
 public:
  explicit HdfsServices(const config::HadoopConf& conf);

  /// "hdfs://nn:8020/x" as the service of its tokens: "10.0.0.7:8020", or "ha-hdfs:NAME"; "": it is no HDFS, or its
  /// host has no address.
  std::string ServiceOf(const std::string& uri, const AddressOf& address_of) const;
  /// Where a service's name nodes are called; none: it is no address, and no configured name.
  std::vector<env::Endpoint> AddressesOf(const std::string& service) const;

 private:
  std::map<std::string, std::vector<env::Endpoint>> names_;
  bool by_address_;  // hadoop.security.token.service.use_ip
};

}  // namespace fairlead::shell
