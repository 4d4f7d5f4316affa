#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/fairlead_yaml.h"
#include "config/host_list.h"
#include "env/net.h"
#include "env/store.h"
#include "process/http/known_hosts.h"
#include "process/rm/resource_manager.h"
#include "shell/kerberos/kerberos.h"
#include "shell/rm/ha_settings.h"

namespace fairlead::shell {

/// Everything `fairlead rm` takes from its configuration.
struct RmSettings {
  process::rm::ResourceManagerOptions manager;
  env::Endpoint web;                       // yarn.resourcemanager.webapp.address
  std::optional<env::Endpoint> proxy;      // yarn.web-proxy.address: masters' pages on a port of their own
  process::http::KnownHosts hosts;         // under which names the web port is served
  std::string state_directory;             // fairlead.rm.state-dir, fs.state-store.uri, else below hadoop.tmp.dir
  std::string allocation_file;             // empty: queues come from Fairlead's own file, or there are none
  uint64_t journal_bytes_max = 1 << 30;    // fairlead.rm.journal-bytes; 0: no journal
  std::optional<HaSettings> ha;            // of one of several managers; everything above is this one's
  bool watches_queues = false;             // a change of that file counts without a refresh
  std::optional<DaemonIdentity> kerberos;  // hadoop.security.authentication is that
  WebIdentity web_identity;                // of the web port, where it takes tickets
  std::string profile_because;             // the rule that chose the profile, for the start's log
  std::vector<std::string> warnings;
};

/// Which profile runs: fairlead.scheduler.profile, else yarn.resourcemanager.scheduler.class, else a
/// capacity-scheduler.xml alone in the directory means yarn-capacity, else fairlead.
struct ProfileChoice {
  std::string name;
  std::string because;
};
ProfileChoice ChooseProfile(const config::HadoopConf& conf, const std::string& conf_directory);

/// Reads and checks the whole configuration; what cannot be honoured (HTTPS, other stores, ...) is an Error with the
/// key, the reason and what to write, a line each. `conf_directory` is where a relative allocation file is looked for;
/// may be empty. `store`: has queues that `yarn schedulerconf` changed; without one those of the file count.
/// `of_refused` gets the warnings beside an Error.
base::Result<RmSettings> ReadRmSettings(const config::Settings& given, const std::string& conf_directory,
                                        env::Store* store = nullptr, std::vector<std::string>* of_refused = nullptr);

/// A warning for each wish that is on without what it needs.
void AddWishWarnings(const model::Wishes& wishes, std::vector<std::string>& warnings);

/// What yarn.resourcemanager.nodes.include-path and .exclude-path name, as the files are now: one or more hosts a line,
/// "#" begins a comment, or XML (HostsFileReader).
base::Result<model::rm::RefreshNodes> ReadHostLists(const config::HadoopConf& conf);

/// Who may act for whom, and hadoop-policy.xml of the directory where it counts. Asks the resolver.
base::Result<process::rm::AdmissionRules> ReadAdmissionRules(const config::HadoopConf& conf,
                                                             const std::string& conf_directory);

}  // namespace fairlead::shell
