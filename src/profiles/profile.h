#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/capacity_change.h"
#include "config/hadoop_conf.h"
#include "config/keys.h"
#include "model/queues.h"
#include "scheduler/scheduler.h"

// The registry of profiles: who needs a scheduler takes it from here, by name. docs/how-to-add.md adds one.

namespace fairlead::profiles {

using config::Setting;

/// Where a profile's queues are written, Fairlead's own YAML aside.
struct QueueFile {
  const char* key;   // names the file
  const char* name;  // in the directory of Hadoop's files, when the key is not set
  /// `file` is named in errors and in the warnings that are appended; `site` has the keys of yarn-site.xml.
  base::Result<model::QueueTree> (*parse)(std::string_view text, const std::string& file,
                                          const config::HadoopConf& site, std::vector<std::string>& warnings);
  /// EditAllocationFile or its like, and a file without queues for it; nullptr: the file is not changed from here.
  base::Result<std::string> (*edit)(std::string_view text, std::string_view queue,
                                    const std::vector<std::pair<std::string, std::string>>& settings);
  const char* empty;
  bool watched = false;  // a change is taken into use without a refresh, as Hadoop's scheduler of this file does
  /// The file's keys, and `parse` of such keys, which warnings call `origin`: for queues that `yarn schedulerconf`
  /// changes; nullptr: of this file it does not.
  base::Result<config::Properties> (*keys)(std::string_view text, const std::string& file) = nullptr;
  model::QueueTree (*from_keys)(const config::Properties& keys, const std::string& origin,
                                const config::HadoopConf& site, std::vector<std::string>& warnings) = nullptr;
  /// The key that names a file with more of it, and what puts that into the keys; nullptr: there is none.
  const char* included = nullptr;
  base::Status (*include)(config::Properties& keys, const config::HadoopConf& site,
                          const config::FileReader& read) = nullptr;
  /// All values that are wrong by themselves, with their places, where `parse` does not tell them; nullptr: it does.
  std::vector<std::string> (*faults)(std::string_view text, const std::string& file,
                                     const config::HadoopConf& site) = nullptr;
};

/// `form.parse` of a file of this machine, with the file that it names besides, which `read` reads.
base::Result<model::QueueTree> ParseWithIncluded(const QueueFile& form, std::string_view text, const std::string& file,
                                                 const config::HadoopConf& site, const config::FileReader& read,
                                                 std::vector<std::string>& warnings);

/// Makes a scheduler; `epoch` grows with every start of the resource manager and stands in container ids.
using Maker = std::function<std::unique_ptr<scheduler::Scheduler>(int64_t epoch)>;

/// What of the queues' file a profile may pass over (profiles/parts.h has them).
struct Passable;

struct Profile {
  std::string_view name;   // as in fairlead.scheduler.profile
  std::string_view about;  // one line
  /// The Hadoop scheduler whose documents REST and RPC give, by its simple class name. Hadoop's command line reads it.
  std::string_view hadoop_name;
  /// It grants when a node's heartbeat comes, as Hadoop's schedulers do; the others grant at once or in rounds.
  bool by_heartbeat;
  /// The original pushes grants: it launches executors itself, and masters need no heartbeat to receive them. A
  /// simulated cluster does the same.
  bool pushes_grants;
  /// Asks are rounded up to multiples of the smallest container, not of an increment of their own.
  bool rounds_to_minimum = false;
  const QueueFile& queue_file;
  /// What of the queues' file it passes over, and why, or what there is instead.
  struct PassedOver {
    const Passable& what;
    std::string_view instead;
  };
  std::span<const PassedOver> passes_over;
  std::vector<Setting> (*settings)();
  /// Reads the profile's keys and checks the queues. A bad value is noted in conf.errors(), or is the error.
  base::Result<Maker> (*read)(const config::HadoopConf& conf, const model::QueueTree& queues);
};

/// All profiles, the default first.
std::span<const Profile> All();
std::vector<std::string> Names();
/// nullptr when there is none of that name.
const Profile* Find(std::string_view name);

/// What the queues set and the profile passes over, a sentence for each such element.
std::vector<std::string> PassedOverIn(const Profile& profile, const model::QueueTree& queues);

/// The section of docs/configuration.md about it, in Markdown, from its heading to its last row.
std::string Section(const Profile& profile);

/// The profile of that name with these keys and queues. An error says which key or queue is wrong, and what to write.
base::Result<Maker> Read(std::string_view name, const config::HadoopConf& conf, const model::QueueTree& queues);

/// Switches of profile `fairlead` (docs/wishes.md); another profile has none. They travel with the queues, so that a
/// refresh brings both.
inline constexpr char kWishesKey[] = "fairlead.scheduler.wishes";
base::Result<model::Wishes> ReadWishes(std::string_view profile, const config::HadoopConf& conf);

/// Sets what `fairlead` has where drivers at spark:// ask for executors, where `conf` does not say it: sizes are
/// neither rounded nor bounded, and no wish is on. What such a driver waits for is not what it has left to do, so
/// `small-jobs` would order by a number that says nothing (`fairlead sim drivers`).
void SetForDrivers(config::HadoopConf& conf);

}  // namespace fairlead::profiles
