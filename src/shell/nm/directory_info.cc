#include "shell/nm/directory_info.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <ctime>
#include <map>
#include <vector>

#include "shell/nm/beneath.h"

namespace fairlead::shell {

namespace {

constexpr int kDepthMax = 5;
constexpr size_t kEntriesMax = 10'000;
constexpr int64_t kHalfYear = int64_t{182} * 24 * 3600;  // older files are shown with their year

struct Entry {
  std::string name;
  struct stat info {};
  std::string target;  // of a symbolic link
};

/// "drwxr-x---".
std::string Mode(mode_t mode) {
  std::string text = "?rwxrwxrwx";
  text[0] = S_ISDIR(mode) ? 'd' : S_ISLNK(mode) ? 'l' : S_ISREG(mode) ? '-' : S_ISFIFO(mode) ? 'p' : 's';
  for (size_t bit = 0; bit < 9; ++bit) {
    if ((mode >> (8 - bit) & 1) == 0) text[bit + 1] = '-';
  }
  return text;
}

class Listing {
 public:
  /// As `ls -l` of the current directory.
  std::string Long() {
    const std::vector<Entry> entries = Read(".", false);
    int64_t blocks = 0;
    size_t links = 0, user = 0, group = 0, size = 0;
    for (const Entry& e : entries) {
      blocks += e.info.st_blocks / 2;
      links = std::max(links, std::to_string(e.info.st_nlink).size());
      user = std::max(user, User(e.info.st_uid).size());
      group = std::max(group, Group(e.info.st_gid).size());
      size = std::max(size, std::to_string(e.info.st_size).size());
    }
    std::string out = "total " + std::to_string(blocks) + "\n";
    for (const Entry& e : entries) {
      out += Mode(e.info.st_mode) + " " + Right(std::to_string(e.info.st_nlink), links) + " " +
             Left(User(e.info.st_uid), user) + " " + Left(Group(e.info.st_gid), group) + " " +
             Right(std::to_string(e.info.st_size), size) + " " + Time(e.info) + " " + Name(e) + "\n";
    }
    return out;
  }

  /// As `find -L . -maxdepth 5 -ls`, of broken links alone with `-type l`.
  std::string Deep(bool broken_links) {
    std::string out;
    size_t count = 0;
    Entry top{".", {}, {}};
    if (::stat(".", &top.info) == 0 && !broken_links) out += Line(top);
    Descend(".", 1, broken_links, count, out);
    if (count >= kEntriesMax) out += "(and more)\n";
    return out;
  }

 private:
  void Descend(const std::string& directory, int depth, bool broken_links, size_t& count, std::string& out) {
    for (Entry& e : Read(directory, true)) {
      if (++count >= kEntriesMax) return;
      const bool is_directory = S_ISDIR(e.info.st_mode);
      e.name = directory + "/" + e.name;
      if (!broken_links || S_ISLNK(e.info.st_mode)) out += Line(e);
      if (is_directory && depth < kDepthMax) Descend(e.name, depth + 1, broken_links, count, out);
    }
  }

  /// By name; links are followed where they lead somewhere.
  static std::vector<Entry> Read(const std::string& directory, bool follow) {
    std::vector<Entry> entries;
    const base::Result<Fd> open = OpenRoot(directory);
    const auto found = open ? List(open->get(), kEntriesMax) : open.error();
    if (!found) return entries;
    for (const DirectoryEntry& entry : *found) {
      Entry& e = entries.emplace_back(Entry{entry.name, entry.info, {}});
      if (!S_ISLNK(e.info.st_mode)) continue;
      const std::string path = directory + "/" + e.name;
      char target[PATH_MAX];
      if (follow && ::stat(path.c_str(), &e.info) == 0) continue;
      const ssize_t n = ::readlink(path.c_str(), target, sizeof target);
      if (n > 0) e.target.assign(target, static_cast<size_t>(n));
    }
    return entries;
  }

  std::string Line(const Entry& e) {
    char numbers[64], size[32];
    std::snprintf(numbers, sizeof numbers, "%9llu %6lld %s %3llu ", static_cast<unsigned long long>(e.info.st_ino),
                  static_cast<long long>(e.info.st_blocks / 2), Mode(e.info.st_mode).c_str(),
                  static_cast<unsigned long long>(e.info.st_nlink));
    std::snprintf(size, sizeof size, " %8lld ", static_cast<long long>(e.info.st_size));
    return numbers + Left(User(e.info.st_uid), 8) + " " + Left(Group(e.info.st_gid), 8) + size + Time(e.info) + " " +
           Name(e) + "\n";
  }

  static std::string Name(const Entry& e) { return e.target.empty() ? e.name : e.name + " -> " + e.target; }
  static std::string Left(const std::string& text, size_t width) {
    return text.size() < width ? text + std::string(width - text.size(), ' ') : text;
  }
  static std::string Right(const std::string& text, size_t width) {
    return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
  }

  std::string Time(const struct stat& info) const {
    std::tm parts{};
    ::localtime_r(&info.st_mtim.tv_sec, &parts);
    const int64_t age = now_ - info.st_mtim.tv_sec;
    char text[32];
    std::strftime(text, sizeof text, age >= 0 && age < kHalfYear ? "%b %e %H:%M" : "%b %e  %Y", &parts);
    return text;
  }
  const std::string& User(uid_t id) {
    std::string& name = users_[id];
    if (name.empty()) {
      const passwd* found = ::getpwuid(id);
      name = found ? found->pw_name : std::to_string(id);
    }
    return name;
  }
  const std::string& Group(gid_t id) {
    std::string& name = groups_[id];
    if (name.empty()) {
      const group* found = ::getgrgid(id);
      name = found ? found->gr_name : std::to_string(id);
    }
    return name;
  }

  const std::time_t now_ = std::time(nullptr);
  std::map<uid_t, std::string> users_;
  std::map<gid_t, std::string> groups_;
};

}  // namespace

std::string DirectoryInfo() {
  Listing listing;
  return "ls -l:\n" + listing.Long() + "find -L . -maxdepth 5 -ls:\n" + listing.Deep(false) +
         "broken symlinks(find -L . -maxdepth 5 -type l -ls):\n" + listing.Deep(true);
}

}  // namespace fairlead::shell
