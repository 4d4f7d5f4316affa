#include "profiles/profile.h"

#include "config/allocation_edit.h"
#include "config/allocation_file.h"
#include "profiles/parts.h"

namespace fairlead::profiles {

namespace {

base::Result<model::QueueTree> ParseFairScheduler(std::string_view text, const std::string& file,
                                                  const config::HadoopConf&, std::vector<std::string>& warnings) {
  base::Result<config::AllocationFile> read = config::ParseAllocationFile(text, file);
  if (!read) return read.error();
  warnings.insert(warnings.end(), read->warnings.begin(), read->warnings.end());
  return std::move(read->tree);
}

}  // namespace

const QueueFile kFairSchedulerFile = {"yarn.scheduler.fair.allocation.file",
                                      "fair-scheduler.xml",
                                      ParseFairScheduler,
                                      config::EditAllocationFile,
                                      "<allocations>\n</allocations>\n",
                                      true};

base::Result<model::QueueTree> ParseWithIncluded(const QueueFile& form, std::string_view text, const std::string& file,
                                                 const config::HadoopConf& site, const config::FileReader& read,
                                                 std::vector<std::string>& warnings) {
  if (form.included == nullptr || (text.find(form.included) == std::string_view::npos && !site.IsSet(form.included)))
    return form.parse(text, file, site, warnings);
  base::Result<config::Properties> keys = form.keys(text, file);
  if (!keys) return keys.error();
  if (const base::Status included = form.include(*keys, site, read); !included)
    return base::Error{file + ": " + included.error().message};
  return form.from_keys(*keys, file, site, warnings);
}

std::span<const Profile> All() {
  static const Profile kAll[] = {kFairlead, kYarnFair, kYarnCapacity, kTdw, kSparkStandalone};
  return kAll;
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const Profile& profile : All()) names.emplace_back(profile.name);
  return names;
}

const Profile* Find(std::string_view name) {
  for (const Profile& profile : All()) {
    if (profile.name == name) return &profile;
  }
  return nullptr;
}

namespace {

using model::QueueConfig;
using model::QueueTree;

/// "root.a, root.b and 3 more"; empty: none.
std::string QueuesThat(bool (*set)(const QueueConfig& queue), const QueueTree& tree) {
  constexpr size_t kNamed = 3;
  std::string names;
  size_t count = 0;
  for (const QueueConfig& queue : tree.queues) {
    if (!set(queue) || ++count > kNamed) continue;
    names += (names.empty() ? "" : ", ") + queue.name;
  }
  return count > kNamed ? names + " and " + std::to_string(count - kNamed) + " more" : names;
}

}  // namespace

std::vector<std::string> PassedOverIn(const Profile& profile, const model::QueueTree& queues) {
  std::vector<std::string> told;
  for (const auto& [what, instead] : profile.passes_over) {
    std::string where = what.of_queue != nullptr ? QueuesThat(what.of_queue, queues) : "";
    if (!where.empty()) where = " (" + where + ")";
    if (where.empty() && !(what.of_tree != nullptr && what.of_tree(queues))) continue;
    told.push_back("profile " + std::string(profile.name) + " passes over " + std::string(what.element) + where + ": " +
                   std::string(instead));
  }
  return told;
}

std::string Section(const Profile& profile) {
  return "### `" + std::string(profile.name) + "`\n\n" + std::string(profile.about) + ".\n\n" +
         config::Markdown(profile.settings());
}

void SetForDrivers(config::HadoopConf& conf) {
  constexpr std::pair<const char*, const char*> kKeys[] = {{"yarn.scheduler.minimum-allocation-mb", "1"},
                                                           {"yarn.scheduler.increment-allocation-mb", "1"},
                                                           {"yarn.scheduler.maximum-allocation-mb", "2147483647"},
                                                           {"yarn.scheduler.maximum-allocation-vcores", "2147483647"},
                                                           {kWishesKey, "none"}};
  for (const auto& [key, value] : kKeys) {
    if (!conf.IsSet(key)) conf.Set(key, value);
  }
}

base::Result<Maker> Read(std::string_view name, const config::HadoopConf& conf, const model::QueueTree& queues) {
  const Profile* profile = Find(name);
  if (profile == nullptr) {
    std::string known;
    for (const Profile& one : All()) known += (known.empty() ? "" : ", ") + std::string(one.name);
    return base::Error{"there is no profile \"" + std::string(name) + "\"; write one of " + known};
  }
  base::Result<Maker> maker = profile->read(conf, queues);
  if (maker.ok() && !conf.errors().empty()) return base::Error{conf.ErrorText()};
  return maker;
}

}  // namespace fairlead::profiles
