#include "shell/nm/localizer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <map>
#include <optional>
#include <vector>

#include "base/codec.h"
#include "process/nm/layout.h"
#include "shell/nm/beneath.h"
#include "shell/nm/errand.h"
#include "shell/nm/file_url.h"
#include "shell/nm/localizer_archive.h"
#include "shell/nm/localizer_web.h"
#include "shell/nm/pattern.h"

namespace fairlead::shell {

namespace {

using model::nm::ResourceType;
using model::nm::Visibility;
using process::nm::Fetched;
using process::nm::FetchPlan;

/// "2026-01-31T12:34:56.789+0000", as Hadoop's Times.formatISO8601 in UTC.
std::string Iso8601(int64_t ms) {
  const auto seconds = static_cast<std::time_t>(ms >= 0 ? ms / 1000 : (ms - 999) / 1000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03d+0000", parts.tm_year + 1900, parts.tm_mon + 1,
                parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                static_cast<int>(((ms % 1000) + 1000) % 1000));
  return text;
}

std::string NameOf(const FileUrl& url) { return url.path.substr(url.path.rfind('/') + 1); }

int64_t ModifiedMs(const struct stat& info) { return info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1'000'000; }

/// What to do with the file `copy` in `directory`, which is to become `name` (FSDownload.unpack).
base::Status Settle(const FetchPlan& plan, int directory, const std::string& copy, const std::string& name,
                    const LocalizerLimits& limits) {
  const model::nm::LocalResource& resource = plan.resource;
  const auto rename = [&](int to, const std::string& as) -> base::Status {
    if (::renameat(directory, copy.c_str(), to, as.c_str()) < 0) return ErrnoOf("cannot rename " + copy);
    return {};
  };
  const base::Result<Fd> archive = OpenRegular(directory, copy);
  if (resource.type == ResourceType::kFile || !IsArchiveName(name) || !archive) return rename(directory, name);
  const base::Result<Fd> target = MakeDirectories(directory, name, 0755);
  if (!target) return target.error();
  if (resource.type != ResourceType::kPattern || !name.ends_with(".jar")) {
    if (base::Status unpacked = Unpack(archive->get(), target->get(), limits); !unpacked) return unpacked;
    if (::unlinkat(directory, copy.c_str(), 0) < 0) return ErrnoOf("cannot remove " + copy);
    return {};
  }
  const base::Result<Pattern> wanted = Pattern::Read(resource.pattern.empty() ? ".*" : resource.pattern);
  if (!wanted)
    return base::Error{"the resource's pattern " + resource.pattern + " cannot be read: " + wanted.error().message};
  const auto matches = [&](const std::string& entry) { return wanted->MatchesAll(entry); };
  if (base::Status unpacked = Unpack(archive->get(), target->get(), limits, matches); !unpacked) return unpacked;
  return rename(target->get(), name);
}

/// The opened source, when it is what the resource names.
base::Result<Fd> OpenLocalSource(const model::nm::LocalResource& resource, const std::string& path,
                                 base::WallTime now) {
  const bool is_public = resource.visibility == Visibility::kPublic;
  base::Result<Fd> source = is_public ? OpenPublicSource(path) : OpenSource(path);
  if (!source && source.error().code == ENOENT) return base::Error{"File file:" + path + " does not exist", ENOENT};
  // Who may not even look is told no more than that; the time stamp comes first where it can be seen, as in Hadoop.
  struct stat info {};
  if (!source && !(is_public && source.error().code == EACCES && ::stat(path.c_str(), &info) == 0))
    return base::Error{"file:" + source.error().message, source.error().code};
  if (source && ::fstat(source->get(), &info) < 0) return ErrnoOf("file:" + path);
  const int64_t modified = ModifiedMs(info);
  const bool whole_seconds = resource.timestamp_ms % 1000 == 0 && modified / 1000 == resource.timestamp_ms / 1000;
  if (modified != resource.timestamp_ms && !whole_seconds) {
    return base::Error{"Resource file:" + path + " changed on src filesystem - expected: \"" +
                       Iso8601(resource.timestamp_ms) + "\", was: \"" + Iso8601(modified) + "\", current time: \"" +
                       Iso8601(now.ms) + "\""};
  }
  if (!source) {
    return base::Error{"Resource file:" + path +
                       " is not publicly accessible and as such cannot be part of the public cache."};
  }
  return source;
}

base::Status CopySource(int source, int directory, const std::string& copy, const LocalizerLimits& limits,
                        bool is_public) {
  Budget budget;
  budget.bytes = limits.bytes_max;
  budget.entries = limits.entries_max;
  struct stat info {};
  if (::fstat(source, &info) < 0) return ErrnoOf("cannot read");
  const bool is_tree = S_ISDIR(info.st_mode);
  const base::Result<Fd> target = is_tree ? MakeDirectories(directory, copy, 0700) : CreateFile(directory, copy, 0600);
  if (!target) return target.error();
  return is_tree ? CopyTree(source, target->get(), budget, is_public) : CopyBytes(source, target->get(), budget);
}

/// Hadoop's exception for an error.
std::string Thrown(const base::Error& error) {
  switch (error.code) {
    case ENOENT:
      return "java.io.FileNotFoundException: " + error.message;
    case EPROTONOSUPPORT:
      return "org.apache.hadoop.fs.UnsupportedFileSystemException: " + error.message;
    default:
      return "java.io.IOException: " + error.message;
  }
}

/// As SerializedException.toString() prints an exception, without the frames of its trace.
Fetched Failure(const base::Error& error) {
  const std::string thrown = Thrown(error);
  return {{}, 0, error.message + "\n" + thrown + "\n", thrown};
}

/// What fails after the checks FSDownload wraps twice: in a YarnException, and, where it acts as the user, in what doAs
/// throws. Each prints the causes in its trace, and they follow once more.
Fetched UnpackFailure(const base::Error& error) {
  const std::string message = "Download and unpack failed";
  const std::string thrown = "org.apache.hadoop.yarn.exceptions.YarnException: " + message;
  const std::string cause = "Caused by: " + Thrown(error) + "\n";
  return {{},
          0,
          "\njava.lang.reflect.UndeclaredThrowableException\nCaused by: " + thrown + "\n" + cause +
              "Caused by: " + message + "\n" + thrown + "\n" + cause + "Caused by: " + Failure(error).error,
          thrown};
}

/// Brings the resource into `directory` under its name; "" or what went wrong.
std::optional<Fetched> Bring(const FetchPlan& plan, int directory, const FileUrl& url, const std::string& name,
                             const LocalizerLimits& limits, const std::string& web_address, base::WallTime now) {
  const std::string copy = "." + name + ".part";
  if (url.scheme == "file") {
    const base::Result<Fd> source = OpenLocalSource(plan.resource, url.path, now);
    if (!source) return Failure(source.error());
    const bool is_public = plan.resource.visibility == Visibility::kPublic;
    if (base::Status copied = CopySource(source->get(), directory, copy, limits, is_public); !copied)
      return UnpackFailure({"cannot copy " + url.path + ": " + copied.error().message, copied.error().code});
  } else {
    const base::Result<Fd> target = CreateFile(directory, copy, 0600);
    if (!target) return Failure(target.error());
    const WebSource from{url.scheme, url.authority, url.path, plan.user, web_address, plan.tokens};
    if (base::Status fetched = FetchFromWeb(from, plan.resource, target->get(), limits.bytes_max); !fetched)
      return Failure(fetched.error());
  }
  if (base::Status settled = Settle(plan, directory, copy, name, limits); !settled)
    return UnpackFailure(settled.error());
  return std::nullopt;
}

/// 0755/0555 for everybody, 0700/0500 for one user, as FSDownload.changePermissions; the size of all of it.
base::Result<int64_t> SettlePermissions(int directory, const std::string& name, bool is_public,
                                        const LocalizerLimits& limits) {
  const mode_t files = is_public ? 0555 : 0500;
  if (const base::Result<Fd> file = OpenRegular(directory, name)) {
    struct stat info {};
    if (::fstat(file->get(), &info) < 0 || ::fchmod(file->get(), files) < 0) return ErrnoOf("chmod " + name);
    return info.st_size;
  }
  const base::Result<Fd> tree = OpenDirectory(directory, name);
  if (!tree) return tree.error();
  Budget budget;
  budget.entries = 2 * limits.entries_max;  // with directories that no archive named
  return SetModes(tree->get(), is_public ? 0755 : 0700, files, budget);
}

class Fetches final : public process::nm::Localizer {
 public:
  Fetches(env::Loop& loop, Errands& errands, LocalizerOptions options)
      : loop_(loop), errands_(errands), options_(std::move(options)) {}

  void Fetch(FetchPlan plan, std::function<void(Fetched)> done) override {
    const bool is_public = plan.resource.visibility == Visibility::kPublic;
    const FileUrl url = ParseFileUrl(plan.resource.url);
    Order order;
    order.submitter = plan.user;
    order.is_public = is_public;
    const std::string top = is_public ? plan.directory : process::nm::UserDir(plan.local_dir, plan.user);
    order.tops = {{plan.local_dir, Below(plan.local_dir, top), is_public ? 0755U : 0750U}};
    FetchErrand errand;
    errand.web_address = options_.web_address ? options_.web_address(url.scheme, url.authority) : "";
    errand.limits = options_.limits;
    errand.now = loop_.Wall();
    const std::string lane = "fetch " + plan.user;
    const std::string expected = plan.directory + "/" + NameOf(url);
    errand.plan = std::move(plan);
    const model::nm::ResourceNumber number = errand.plan.number;
    under_way_[number] =
        errands_.RunOn(loop_, lane, std::move(order), std::move(errand),
                       [this, done = std::move(done), expected, number](const base::Result<std::string>& result) {
                         under_way_.erase(number);
                         Fetched fetched = result ? Checked(*result, expected) : Failure(result.error());
                         fetched.given_up = !result && result.error().code == ECANCELED;
                         done(std::move(fetched));
                       });
  }
  void GiveUp(model::nm::ResourceNumber number) override {
    if (const auto at = under_way_.find(number); at != under_way_.end()) errands_.Cancel(at->second);
  }

 private:
  /// What a process of the user's says is believed only as far as it can only hurt him.
  Fetched Checked(const std::string& bytes, const std::string& expected) const {
    base::Budget budget(kErrandKind, bytes.size());
    base::ByteReader in(bytes, budget);
    Fetched fetched;
    base::Decode(in, fetched);
    const bool sensible = in.done() && fetched.bytes >= 0 && fetched.bytes <= options_.limits.bytes_max &&
                          (!fetched.error.empty() || fetched.path == expected);
    return sensible ? fetched : Failure({"the fetch gave no sensible answer"});
  }

  env::Loop& loop_;
  Errands& errands_;
  const LocalizerOptions options_;
  std::map<model::nm::ResourceNumber, uint64_t> under_way_;  // numbers of their errands
};

}  // namespace

Fetched FetchResource(const FetchPlan& plan, const LocalizerLimits& limits, const std::string& web_address,
                      base::WallTime now) {
  const FileUrl url = ParseFileUrl(plan.resource.url);
  const std::string name = NameOf(url);
  if (!process::nm::IsPlainName(name)) return Failure({"the resource " + plan.resource.url + " has no file name"});
  const std::string below = Below(plan.local_dir, plan.directory);
  const size_t slash = below.rfind('/');
  const base::Result<Fd> root = OpenRoot(plan.local_dir);
  if (!root) return Failure(root.error());
  // What is there of it is a leftover of a run that did not end.
  const bool is_public = plan.resource.visibility == Visibility::kPublic;
  Budget removal;
  const base::Result<Fd> holder =
      MakeDirectories(root->get(), slash == std::string::npos ? "" : below.substr(0, slash), 0710);
  if (!holder) return Failure(holder.error());
  const std::string leaf = below.substr(slash == std::string::npos ? 0 : slash + 1);
  base::Result<Fd> directory = OpenDirectory(holder->get(), leaf);
  if (directory) {
    if (base::Status cleared = RemoveContents(directory->get(), removal); !cleared) return Failure(cleared.error());
  } else {
    directory = MakeNewDirectory(holder->get(), leaf, is_public ? 0755 : 0700, removal);
  }
  if (!directory) return Failure(directory.error());
  std::optional<Fetched> failure = Bring(plan, directory->get(), url, name, limits, web_address, now);
  if (!failure) {
    const base::Result<int64_t> bytes = SettlePermissions(directory->get(), name, is_public, limits);
    if (bytes) return {plan.directory + "/" + name, *bytes, {}, {}};
    failure = UnpackFailure(bytes.error());
  }
  [[maybe_unused]] const base::Status cleared = RemoveContents(directory->get(), removal);
  ::unlinkat(holder->get(), leaf.c_str(), AT_REMOVEDIR);
  return *failure;
}

std::unique_ptr<process::nm::Localizer> MakeLocalizer(env::Loop& loop, Errands& errands, LocalizerOptions options) {
  return std::make_unique<Fetches>(loop, errands, std::move(options));
}

}  // namespace fairlead::shell
