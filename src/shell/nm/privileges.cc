#include "shell/nm/privileges.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "shell/nm/beneath.h"

namespace fairlead::shell {

namespace {

/// A directory of the agent's own; only one that is missing is made, since an existing one may be somebody's.
base::Status Claim(const std::string& path, mode_t mode, const UnixUser& agent) {
  if (base::Status safe = CheckRootIsSafe(path, agent.user, agent.group); !safe) return safe;
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) {
    if (info.st_uid == agent.user) return {};
    return base::Error{path + " belongs to user id " + std::to_string(info.st_uid) + " instead of " + agent.name +
                       ", as whom the node agent runs (fairlead.nm.user); give it to that user (chown -R)"};
  }
  if (base::Status made = MakeRoot(path, mode); !made) return made;
  const base::Result<Fd> directory = OpenRoot(path);
  if (!directory) return directory.error();
  const base::Result<Fd> open = OpenDirectory(directory->get(), "");
  if (!open) return open.error();
  if (::fchown(open->get(), agent.user, agent.group) < 0) return ErrnoOf("chown " + path);
  return {};
}

base::Status ClaimAll(NmSettings& settings, const UnixUser& agent) {
  // A bad disk is the health check's to tell.
  for (const auto* paths : {&settings.dirs.local, &settings.dirs.logs}) {
    for (const std::string& path : *paths) {
      if (base::Status claimed = Claim(path, 0755, agent); !claimed)
        settings.warnings.push_back(claimed.error().message);
    }
  }
  return Claim(settings.state_directory, 0700, agent);
}

/// The file of the node's credential becomes the agent's, who reads it again when it changes; `fairlead join` leaves it
/// so.
base::Status GiveCredential(const std::string& path, const UnixUser& agent) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info {};
  if (!file.valid() || ::fstat(file.get(), &info) < 0) return ErrnoOf(path);
  if (info.st_uid == agent.user) return {};
  if (!S_ISREG(info.st_mode) || info.st_uid != 0 || info.st_nlink != 1) {
    return base::Error{path + " is no file of root's, and stays as it is: a renewed one counts at the next start"};
  }
  if (::fchown(file.get(), agent.user, agent.group) < 0) return ErrnoOf("chown " + path);
  return {};
}

/// The disks of the node's directories, each once, where their rate is a resource type.
std::vector<std::string> DisksToLimit(NmSettings& settings) {
  std::vector<std::string> disks;
  if (settings.containers.disk_rate_type == 0) return disks;
  std::vector<std::string> directories = settings.dirs.local;
  directories.insert(directories.end(), settings.dirs.logs.begin(), settings.dirs.logs.end());
  for (const std::string& directory : directories) {
    const base::Result<std::string> disk = DiskOf(directory);
    if (!disk) {
      settings.warnings.push_back("fairlead.nm.disk-rate-type: no limit there: " + disk.error().message);
    } else if (std::find(disks.begin(), disks.end(), *disk) == disks.end()) {
      disks.push_back(*disk);
    }
  }
  return disks;
}

void LimitNetwork(NmSettings& settings, const UnixUser& agent) {
  const auto without = [&](const std::string& why) {
    settings.warnings.push_back("fairlead.nm.network-rate-type: containers send without limit: " + why);
  };
  if (!settings.containers.cgroups.has_network()) {
    return without(
        "no net_cls control group can be written (as root: mkdir /run/net_cls; mount -t cgroup -o net_cls net_cls "
        "/run/net_cls)");
  }
  base::Result<std::unique_ptr<NetworkRates>> rates = NetworkRates::Start(settings.network_interface, agent);
  if (!rates) return without(rates.error().message);
  settings.containers.network = std::move(*rates);
}

}  // namespace

base::Result<std::unique_ptr<Helper>> GiveUpPrivileges(NmSettings& settings) {
  const bool is_root = ::geteuid() == 0;
  RunAs& rules = settings.run_as;
  rules.agent = OwnUnixUser();
  if (is_root && !settings.agent_user.empty()) {
    base::Result<UnixUser> found = FindUnixUser(settings.agent_user);
    if (!found) return found.error();
    rules.agent = std::move(*found);
  }
  settings.dirs.run_as = rules;
  const bool changes = rules.agent.user != ::geteuid();
  if (changes) {
    if (base::Status claimed = ClaimAll(settings, rules.agent); !claimed) return claimed.error();
    settings.manager.user = rules.agent.name;
    const std::string& credential = settings.credential_file;
    const base::Status given = credential.empty() ? base::Status() : GiveCredential(credential, rules.agent);
    if (!given.ok()) settings.warnings.push_back(given.error().message);
  }
  if (settings.use_cgroups) {
    const bool network = settings.containers.network_rate_type != 0;
    settings.containers.cgroups =
        Cgroups::Detect(settings.cgroup_hierarchy, settings.manager.core.capacity[1], DisksToLimit(settings), network);
    if (network) LimitNetwork(settings, rules.agent);
    if (changes) {
      const base::Status given = settings.containers.cgroups.GiveTo(rules.agent.user, rules.agent.group);
      if (!given) settings.warnings.push_back(given.error().message);
    }
  }
  // Without switching, containers are the agent's: the helper has the agent's rights, whatever they are.
  const bool helper_first = rules.switch_user || !changes;
  auto helper = std::make_unique<Helper>("/proc/self/exe", settings.state_directory + "/containers", rules);
  if (helper_first) {
    if (base::Status started = helper->Start(); !started) return started.error();
  }
  if (is_root) {
    if (base::Status became = Become(rules.agent); !became) return became.error();
    ::prctl(PR_SET_DUMPABLE, 1);  // else /proc/self is closed to it
  }
  if (!helper_first) {
    if (base::Status started = helper->Start(); !started) return started.error();
  }
  return helper;
}

}  // namespace fairlead::shell
