#include "shell/nm/gathered_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "process/nm/layout.h"
#include "shell/nm/http_transfer.h"
#include "shell/nm/log_target.h"
#include "shell/nm/settings.h"
#include "shell/nm/web_hdfs.h"

namespace fairlead::shell {

namespace {

constexpr int64_t kHdfsFileBytesMax = int64_t{1} << 40;

bool IsWhole(const std::string& name) { return !name.ends_with(".tmp") && !name.ends_with("-checksum"); }

class MountedFiles final : public GatheredFiles {
 public:
  explicit MountedFiles(Fd directory) : directory_(std::move(directory)) {}
  base::Result<std::vector<std::string>> Names() const override {
    constexpr size_t kMost = 1'000'000;
    const auto entries = List(directory_.get(), kMost);
    if (!entries) return entries.error();
    std::vector<std::string> names;
    for (const DirectoryEntry& entry : *entries) {
      if (IsWhole(entry.name) && S_ISREG(entry.info.st_mode)) names.push_back(entry.name);
    }
    return names;
  }
  base::Result<Fd> Open(const std::string& name) const override { return OpenRegular(directory_.get(), name); }

 private:
  const Fd directory_;
};

class HdfsFiles final : public GatheredFiles {
 public:
  HdfsFiles(const LogAggregationOptions& options, std::string directory, const std::string& user)
      : hdfs_(options.web_hdfs, {user, "", options.secured}), directory_(std::move(directory)) {}
  base::Result<std::vector<std::string>> Names() const override {
    auto names = hdfs_.List(directory_);
    if (names) std::erase_if(*names, [](const std::string& name) { return !IsWhole(name); });
    return names;
  }
  base::Result<Fd> Open(const std::string& name) const override {
    Fd file(::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (!file.valid()) return ErrnoOf("a file in /tmp");
    if (base::Status read = hdfs_.Get(directory_ + "/" + name, file.get(), kHdfsFileBytesMax); !read)
      return read.error();
    return file;
  }

 private:
  const WebHdfs hdfs_;
  const std::string directory_;
};

}  // namespace

base::Result<std::unique_ptr<GatheredFiles>> FindGatheredFiles(const config::HadoopConf& conf,
                                                               const model::ApplicationId& app,
                                                               const std::string& owner, const std::string& user) {
  if (!process::nm::IsPlainName(owner)) return base::Error{"the name of the application's user is no directory's name"};
  const base::Result<LogAggregationOptions> options = ReadLogPlace(conf);
  if (!options) return options.error();
  const std::string directory = options->root + "/" + owner + "/" + LogDirectory(app, *options);
  if (!options->web_hdfs.empty())
    return std::unique_ptr<GatheredFiles>(std::make_unique<HdfsFiles>(*options, directory, user));
  base::Result<Fd> opened = OpenRoot(directory);
  if (!opened) return opened.error();
  return std::unique_ptr<GatheredFiles>(std::make_unique<MountedFiles>(std::move(*opened)));
}

}  // namespace fairlead::shell
