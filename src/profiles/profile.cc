#include "profiles/profile.h"

#include "config/allocation_file.h"
#include "profiles/parts.h"

namespace fairlead::profiles {

namespace {

base::Result<model::QueueTree> ParseFairScheduler(std::string_view text, const std::string& file,
                                                  std::vector<std::string>& warnings) {
  base::Result<config::AllocationFile> read = config::ParseAllocationFile(text, file);
  if (!read) return read.error();
  warnings.insert(warnings.end(), read->warnings.begin(), read->warnings.end());
  return std::move(read->tree);
}

}  // namespace

const QueueFile kFairSchedulerFile = {"yarn.scheduler.fair.allocation.file", "fair-scheduler.xml", ParseFairScheduler};

std::span<const Profile> All() {
  static const Profile kAll[] = {kFairlead, kYarnFair, kTdw, kSparkStandalone};
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

std::string Section(const Profile& profile) {
  std::string text = "### `" + std::string(profile.name) + "`\n\n" + std::string(profile.about) +
                     ".\n\n| key | default | meaning |\n| --- | --- | --- |\n";
  for (const Setting& setting : profile.settings())
    text += "| `" + setting.key + "` | " + setting.fallback + " | " + setting.meaning + " |\n";
  return text;
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
