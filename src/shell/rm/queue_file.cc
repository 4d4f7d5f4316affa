#include "shell/rm/queue_file.h"

#include <utility>

#include "config/yaml_edit.h"
#include "env_posix/posix_loop.h"
#include "profiles/profile.h"
#include "shell/rm/settings.h"

namespace fairlead::shell {
namespace {

using process::rm::QueueChange;
using process::rm::QueueEdit;

constexpr uint64_t kFileBytesMax = uint64_t{16} << 20;
/// In a file that somebody only asks about: as many as applications may make, and root.
constexpr size_t kQueuesAskedMost = 10'001;

/// How many queues an allocation file may have.
size_t QueueTags(std::string_view text) {
  size_t count = 0;
  for (const std::string_view tag : {"<queue", "<pool"}) {
    for (size_t at = text.find(tag); at != text.npos; at = text.find(tag, at)) {
      at += tag.size();
      if (at < text.size() && std::string_view(" \t\r\n/>").find(text[at]) != std::string_view::npos) ++count;
    }
  }
  return count;
}

/// The queues as `text` gives them.
base::Result<model::QueueTree> Parse(const config::Settings& site, const profiles::Profile& profile,
                                     const std::string& file, const std::string& text,
                                     std::vector<std::string>& warnings) {
  if (!site.queues) return profile.queue_file.parse(text, file, site.conf, warnings);
  config::Settings settings;
  if (const base::Status read = config::AddFairleadYaml(file, text, settings); !read.ok()) return read.error();
  return settings.queues.value_or(model::QueueTree{});
}

base::Result<std::string> WithChange(const config::Settings& settings, const profiles::Profile& profile,
                                     const std::string& text, const QueueChange& change) {
  return (settings.queues ? config::EditFairleadYaml : profile.queue_file.edit)(text, change.queue, change.settings);
}

/// Error: the profile passes over what the change sets. It is looked at in a file of its own.
base::Status CheckEffect(const config::Settings& settings, const profiles::Profile& profile, QueueChange change) {
  std::erase_if(change.settings, [](const auto& setting) { return setting.second.empty(); });
  const base::Result<std::string> alone =
      WithChange(settings, profile, settings.queues ? "" : profile.queue_file.empty, change);
  if (!alone.ok()) return {};  // the whole file's check says what is wrong
  std::vector<std::string> warnings;
  auto tree = Parse(settings, profile, "", *alone, warnings);
  if (!tree.ok()) return {};
  if (const auto wishes = profiles::ReadWishes(profile.name, settings.conf)) tree->wishes = *wishes;
  const std::vector<std::string> passed = profiles::PassedOverIn(profile, *tree);
  if (!passed.empty()) return base::Error{"it would have no effect: " + passed.front()};
  return {};
}

base::Result<model::QueueTree> Checked(const config::Settings& settings, const profiles::Profile& profile,
                                       base::Result<model::QueueTree> tree) {
  if (!tree.ok()) return base::Error{"it would be refused: " + tree.error().message};
  if (const auto wishes = profiles::ReadWishes(profile.name, settings.conf)) tree->wishes = *wishes;
  const auto made = profiles::Read(profile.name, settings.conf, *tree);
  if (!made.ok()) return base::Error{"it would be refused: " + made.error().message};
  return tree;
}

base::Status Check(const config::Settings& settings, const profiles::Profile& profile, const QueueEdit& edit) {
  std::vector<std::string> old_warnings;
  std::vector<std::string> warnings;
  (void)Parse(settings, profile, edit.file, edit.before, old_warnings);
  const auto tree = Checked(settings, profile, Parse(settings, profile, edit.file, edit.after, warnings));
  if (!tree.ok()) return tree.error();
  if (warnings.size() > old_warnings.size()) return base::Error{"it would have no effect: " + warnings.back()};
  return {};
}

base::Result<const profiles::Profile*> ProfileOf(const config::Settings& settings, const SettingsSource& source) {
  const std::string name = ChooseProfile(settings.conf, source.hadoop_conf).name;
  const profiles::Profile* profile = profiles::Find(name);
  if (profile == nullptr) return base::Error{"there is no profile '" + name + "' (fairlead.scheduler.profile)"};
  return profile;
}

}  // namespace

base::Result<QueueEdit> EditQueueFile(const SettingsSource& source, const std::string& file,
                                      const QueueChange& change) {
  const base::Result<config::Settings> settings = LoadSettings(source);
  if (!settings.ok()) return base::Error{settings.error().message};  // without errno: it is no code of ours
  const auto found = ProfileOf(*settings, source);
  if (!found.ok()) return found.error();
  const profiles::Profile* profile = *found;
  if (!settings->queues && profile->queue_file.edit == nullptr) {
    return base::Error{std::string("settings of queues are not changed in ") + profile->queue_file.name +
                       " from here; edit it, ask with what-if --queues-file what it would change, and then run yarn "
                       "rmadmin -refreshQueues"};
  }
  QueueEdit edit;
  edit.file = file;
  if (file.empty()) {
    edit.file =
        settings->queues ? source.yaml : settings->conf.String(profile->queue_file.key, profile->queue_file.name);
    if (!settings->queues && !edit.file.starts_with("/")) edit.file = source.hadoop_conf + "/" + edit.file;
  }
  base::Result<std::string> text =
      change.in.empty() ? env_posix::MakePosixDisk()->ReadFile(edit.file, kFileBytesMax) : change.in;
  if (!text.ok()) {
    return base::Error{edit.file + ": " + text.error().message, text.error().code};
  }
  edit.before = std::move(*text);
  base::Result<std::string> after = WithChange(*settings, *profile, edit.before, change);
  if (!after.ok()) return base::Error{edit.file + ": " + after.error().message};
  edit.after = std::move(*after);
  if (const base::Status checked = Check(*settings, *profile, edit); !checked.ok()) return checked.error();
  if (const base::Status effect = CheckEffect(*settings, *profile, change); !effect.ok()) return effect.error();
  return edit;
}

namespace {

/// The one that reads a file with such a first element: `own` where it does, or where it is none of Hadoop's.
const profiles::Profile& ReaderOf(std::string_view text, const profiles::Profile& own) {
  const bool fair = text.find("<allocations") != text.npos;
  const bool capacity = !fair && text.find("<configuration") != text.npos;
  if (!fair && !capacity) return own;
  const profiles::Profile* reader = profiles::Find(capacity ? "yarn-capacity" : "yarn-fair");
  return reader == nullptr || &reader->queue_file == &own.queue_file ? own : *reader;
}

}  // namespace

base::Result<model::QueueTree> ParseQueueText(const SettingsSource& source, const std::string& text) {
  const base::Result<config::Settings> settings = LoadSettings(source);
  if (!settings.ok()) return base::Error{settings.error().message};
  const auto profile = ProfileOf(*settings, source);
  if (!profile.ok()) return profile.error();
  const base::Error many{"it has more than 10,000 queues: of so many nobody may ask; the manager itself takes them"};
  // Before it is read: two megabytes may have 100,000 queues, each of some kilobytes.
  if (QueueTags(text) > kQueuesAskedMost) return many;
  const profiles::Profile& reader = settings->queues ? **profile : ReaderOf(text, **profile);
  std::vector<std::string> warnings;
  auto tree = Parse(*settings, reader, "the file", text, warnings);
  if (tree.ok() && tree->queues.size() > kQueuesAskedMost) return many;
  return Checked(*settings, reader, std::move(tree));
}

base::Status WriteQueueFile(const QueueEdit& edit) {
  const auto disk = env_posix::MakePosixDisk();
  const base::Result<env::FileInfo> info = disk->Stat(edit.file);
  if (!info.ok()) return base::Error{edit.file + ": " + info.error().message};
  for (const auto& [file, text] : {std::pair{edit.file + ".before", edit.before}, std::pair{edit.file, edit.after}}) {
    const base::Status written = disk->WriteFileAtomically(file, text, info->mode);
    if (!written.ok()) return base::Error{file + ": " + written.error().message};
  }
  return {};
}

}  // namespace fairlead::shell
