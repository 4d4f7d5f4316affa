// hadoop-policy.xml and lists of machines that say anything.
#include <cstddef>
#include <cstdint>

#include "config/machine_list.h"
#include "config/proxy_users.h"
#include "config/service_policy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::config;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ResolveHost nobody = [](const std::string&) { return std::vector<std::string>(); };
  if (const auto list = MachineList::Parse(text, nobody); list.ok()) (void)list->Includes("10.0.0.1");
  HadoopConf conf;
  const FileReader no_file = [](const std::string&) { return fairlead::base::Error{"none"}; };
  if (!conf.AddXml("hadoop-policy.xml", text, no_file).ok()) return 0;
  constexpr ServicePolicy::Service kServices[] = {{"p", "security.applicationclient.protocol.acl"}};
  if (const auto policy = ServicePolicy::Read(conf, kServices, nobody); policy.ok()) {
    (void)policy->Judge({"p", "alice", "alice", {"staff"}, "10.0.0.1"});
  }
  if (const auto proxies = ProxyUsers::Read(conf, nobody); proxies.ok()) {
    (void)proxies->Judge({"hue", "hue", "alice", "alice", {"staff"}, "10.0.0.1"});
  }
  return 0;
}
