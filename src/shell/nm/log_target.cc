#include "shell/nm/log_target.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>
#include <vector>

#include "shell/nm/beneath.h"
#include "shell/nm/web_hdfs.h"

namespace fairlead::shell {

namespace {

using process::nm::AggregationPlan;

/// Readers pass over files that end so.
std::string Unfinished(const std::string& name) { return name + ".tmp"; }

class MountedTarget final : public LogTarget {
 public:
  explicit MountedTarget(Fd directory) : directory_(std::move(directory)) {}

  base::Result<bool> Has(const std::string& name) const override {
    struct stat info {};
    if (::fstatat(directory_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) return true;
    if (errno == ENOENT) return false;
    return ErrnoOf(name);
  }

  base::Status Put(const std::string& name, const Write& write) const override {
    const std::string unfinished = Unfinished(name);
    const base::Result<Fd> file = CreateFile(directory_.get(), unfinished, 0640);
    if (!file) return file.error();
    if (base::Status written = write(file->get()); !written) {
      ::unlinkat(directory_.get(), unfinished.c_str(), 0);
      return written;
    }
    if (::renameat(directory_.get(), unfinished.c_str(), directory_.get(), name.c_str()) < 0)
      return ErrnoOf("cannot rename " + unfinished);
    return {};
  }

  base::Status Remove(const std::string& name) const override {
    if (::unlinkat(directory_.get(), name.c_str(), 0) < 0 && errno != ENOENT) return ErrnoOf(name);
    return {};
  }

 private:
  const Fd directory_;
};

/// The directory of one application, below the user's own.
base::Result<Fd> OpenMounted(const AggregationPlan& plan, const LogAggregationOptions& options) {
  const base::Result<Fd> root = OpenRoot(options.root);
  if (!root) return root.error();
  base::Result<Fd> user = MakeDirectories(root->get(), plan.user, 0770);
  struct stat info {};
  if (!user) return user;
  if (::fstat(user->get(), &info) < 0) return ErrnoOf(plan.user);
  if (info.st_uid != ::geteuid() && info.st_uid != 0) {
    return base::Error{options.root + "/" + plan.user + " belongs to user id " + std::to_string(info.st_uid) +
                       ": logs are not given to somebody else"};
  }
  return MakeDirectories(user->get(), LogDirectory(plan.app, options), 0770);
}

/// A file without a name in one of the application's own log directories.
base::Result<Fd> Unnamed(const AggregationPlan& plan) {
  base::Error why{"there is no log directory"};
  for (const std::string& logs : plan.log_dirs) {
    const base::Result<Fd> root = OpenRoot(logs);
    const base::Result<Fd> app = root ? OpenDirectory(root->get(), model::ToString(plan.app)) : root.error();
    if (!app) {
      why = app.error();
      continue;
    }
    Fd file(::openat(app->get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (file.get() >= 0) return file;
    why = ErrnoOf("a file in " + logs);
  }
  return why;
}

class HdfsTarget final : public LogTarget {
 public:
  HdfsTarget(AggregationPlan plan, const LogAggregationOptions& options)
      : token_(TokenFor(plan.tokens, options.scheme, options.authority)),
        hdfs_(options.web_hdfs, {plan.user, token_}),
        plan_(std::move(plan)) {}

  base::Status Make(const LogAggregationOptions& options) {
    if (options.secured && token_.empty()) {
      return base::Error{"the application has no token of " + options.scheme + "://" + options.authority +
                         ": it has to bring one, or yarn.resourcemanager.proxy-user-privileges.enabled to get it one"};
    }
    const auto root = hdfs_.StatusOf(options.root);
    if (!root) return root.error();
    if (!*root && options.secured) {
      return base::Error{options.root + " is not there: 'hdfs dfs -mkdir -p " + options.root +
                         "' and 'hdfs dfs -chmod 1777' make it, as an administrator"};
    }
    if (!*root) {
      const base::Status made = WebHdfs(options.web_hdfs, {options.agent_user}).MakeDirectory(options.root, "1777");
      if (!made) return made.error();
    }
    const std::string own = options.root + "/" + plan_.user;
    const auto user = hdfs_.StatusOf(own);
    if (!user) return user.error();
    if (*user && (*user)->owner != plan_.user && (*user)->owner != options.agent_user)
      return base::Error{own + " belongs to " + (*user)->owner + ": logs are not given to somebody else"};
    if (!*user) {
      if (base::Status made = hdfs_.MakeDirectory(own, "770"); !made) return made.error();
    }
    directory_ = own + "/" + LogDirectory(plan_.app, options);
    return hdfs_.MakeDirectory(directory_, "770");
  }

  base::Result<bool> Has(const std::string& name) const override {
    const auto status = hdfs_.StatusOf(directory_ + "/" + name);
    if (!status) return status.error();
    return status->has_value();
  }

  base::Status Put(const std::string& name, const Write& write) const override {
    const base::Result<Fd> file = Unnamed(plan_);
    if (!file) return file.error();
    if (base::Status written = write(file->get()); !written) return written;
    struct stat info {};
    if (::fstat(file->get(), &info) < 0) return ErrnoOf("the file of logs");
    const std::string target = directory_ + "/" + name;
    base::Status put = hdfs_.Put(Unfinished(target), file->get(), info.st_size, "640");
    if (put.ok()) put = hdfs_.Rename(Unfinished(target), target);
    if (!put.ok()) (void)hdfs_.Remove(Unfinished(target));
    return put;
  }

  base::Status Remove(const std::string& name) const override {
    const base::Result<bool> there = Has(name);
    if (!there) return there.error();
    return *there ? hdfs_.Remove(directory_ + "/" + name) : base::Status();
  }

 private:
  const std::string token_;
  const WebHdfs hdfs_;
  const AggregationPlan plan_;
  std::string directory_;
};

}  // namespace

std::string LogDirectory(const model::ApplicationId& app, const LogAggregationOptions& options) {
  char bucket[16];
  std::snprintf(bucket, sizeof bucket, "%04d", app.number % 10000);
  return "bucket-" + options.suffix + "/" + bucket + "/" + model::ToString(app);
}

base::Result<std::unique_ptr<LogTarget>> OpenLogTarget(const AggregationPlan& plan,
                                                       const LogAggregationOptions& options) {
  if (!options.web_hdfs.empty()) {
    auto hdfs = std::make_unique<HdfsTarget>(plan, options);
    if (base::Status made = hdfs->Make(options); !made) return made.error();
    return std::unique_ptr<LogTarget>(std::move(hdfs));
  }
  base::Result<Fd> directory = OpenMounted(plan, options);
  if (!directory) return base::Error{"logs cannot be written below " + options.root + ": " + directory.error().message};
  return std::unique_ptr<LogTarget>(std::make_unique<MountedTarget>(std::move(*directory)));
}

}  // namespace fairlead::shell
