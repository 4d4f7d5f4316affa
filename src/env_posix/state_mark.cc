#include "env_posix/state_mark.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <utility>

#include "base/checksum.h"
#include "env_posix/disk_words.h"

namespace fairlead::env_posix {
namespace {

constexpr size_t kBytesMax = 512;

std::string BootId() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id.empty() || id.size() > 64 ? "unknown" : id;
}

/// The whole file. Its length is the same throughout a boot, so that an overwrite leaves no old bytes.
std::string Text(uint64_t transactions, const std::string& boot) {
  char line[160];
  std::snprintf(line, sizeof line, "transactions %020" PRIu64 "\nboot %s\n", transactions, boot.c_str());
  const std::string body = "Fairlead keeps a state here. Format 1\n" + std::string(line);
  std::snprintf(line, sizeof line, "checksum %016" PRIx64 "\n", base::Checksum({body}));
  return body + line;
}

}  // namespace

StateMark::StateMark(std::string path) : path_(std::move(path)), boot_(BootId()) {}
StateMark::~StateMark() {
  if (fd_ >= 0) ::close(fd_);
}
StateMark::StateMark(StateMark&& other) noexcept
    : path_(std::move(other.path_)), boot_(std::move(other.boot_)), fd_(std::exchange(other.fd_, -1)) {}

base::Result<std::optional<StateMark::Content>> StateMark::Read() const {
  const auto unreadable = [&] { return base::Error{path_ + " cannot be read: " + DiskWords(path_, errno), errno}; };
  const int fd = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return std::optional<Content>();
  if (fd < 0) return unreadable();
  std::string text(kBytesMax, '\0');
  const ssize_t n = ::pread(fd, text.data(), text.size(), 0);
  const base::Error failure = unreadable();
  ::close(fd);
  if (n < 0) return failure;
  text.resize(static_cast<size_t>(n));
  Content content;
  char boot[65] = "";
  const size_t line = text.find('\n');
  if (line != std::string::npos) {
    std::sscanf(text.c_str() + line, " transactions %20" SCNu64 " boot %64s", &content.transactions, boot);
  }
  if (text != Text(content.transactions, boot)) {
    return base::Error{path_ +
                       " is damaged, so nothing tells whether the database beside it is complete. When you "
                       "know that it is, remove this file; else restore the state directory from a backup"};
  }
  content.of_this_boot = boot == boot_;
  return std::optional(content);
}

bool StateMark::Write(uint64_t transactions) {
  const std::string text = Text(transactions, boot_);
  if (fd_ < 0) return Create(text);
  return ::pwrite(fd_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

// Whole or not at all; from then on it is overwritten in its place.
bool StateMark::Create(const std::string& text) {
  const std::string temporary = path_ + ".new";
  ::unlink(temporary.c_str());
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  const bool written = ::fchmod(fd, 0600) == 0 &&
                       ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                       ::fdatasync(fd) == 0 && ::rename(temporary.c_str(), path_.c_str()) == 0;
  if (!written) {
    ::close(fd);
    return false;
  }
  fd_ = fd;
  return true;
}

}  // namespace fairlead::env_posix
