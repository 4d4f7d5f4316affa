#include "shell/nm/gathered_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <utility>

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
  explicit MountedFiles(std::string directory) : directory_(std::move(directory)) {}
  base::Result<std::vector<std::string>> Names() const override {
    constexpr size_t kMost = 1'000'000;
    std::vector<std::string> names;
    if (::access(directory_.c_str(), F_OK) != 0 && errno == ENOENT) return names;
    const base::Result<Fd> directory = OpenRoot(directory_);
    if (!directory) return directory.error();
    const auto entries = List(directory->get(), kMost);
    if (!entries) return entries.error();
    for (const DirectoryEntry& entry : *entries) {
      if (IsWhole(entry.name) && S_ISREG(entry.info.st_mode)) names.push_back(entry.name);
    }
    return names;
  }
  base::Result<Fd> Open(const std::string& name) const override {
    const base::Result<Fd> directory = OpenRoot(directory_);
    return directory ? OpenRegular(directory->get(), name) : directory.error();
  }

 private:
  const std::string directory_;
};

class HdfsFiles final : public GatheredFiles {
 public:
  HdfsFiles(const LogAggregationOptions& options, std::string directory, const std::string& user)
      : hdfs_(options.web_hdfs, {user, "", options.secured}), directory_(std::move(directory)) {}
  base::Result<std::vector<std::string>> Names() const override {
    const auto status = hdfs_.StatusOf(directory_);
    if (!status) return status.error();
    if (!*status) return std::vector<std::string>();
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

std::vector<std::unique_ptr<GatheredFiles>> FindGatheredFiles(const config::HadoopConf& conf,
                                                              const model::ApplicationId& app, const std::string& owner,
                                                              const std::string& user) {
  std::vector<std::unique_ptr<GatheredFiles>> found;
  if (!process::nm::IsPlainName(owner)) return found;
  std::set<std::pair<std::string, std::string>> seen;  // formats may share a place
  for (const base::Result<LogAggregationOptions>& options : ReadLogPlaces(conf)) {
    if (!options) continue;
    std::string directory = options->root + "/" + owner + "/" + LogDirectory(app, *options);
    if (!seen.insert({options->web_hdfs, directory}).second) continue;
    if (options->web_hdfs.empty()) {
      found.push_back(std::make_unique<MountedFiles>(std::move(directory)));
    } else {
      found.push_back(std::make_unique<HdfsFiles>(*options, std::move(directory), user));
    }
  }
  return found;
}

}  // namespace fairlead::shell
