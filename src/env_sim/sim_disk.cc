#include "env_sim/sim_disk.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace fairlead::env_sim {
namespace {

base::Error Errno(const std::string& path, int error) { return {path + ": " + std::strerror(error), error}; }

/// Without doubled or trailing slashes.
std::string Normalize(const std::string& path) {
  std::string out;
  for (const char c : path) {
    if (c == '/' && !out.empty() && out.back() == '/') continue;
    out += c;
  }
  if (out.size() > 1 && out.back() == '/') out.pop_back();
  return out;
}

bool IsBelow(const std::string& path, const std::string& prefix) {
  return path == prefix || (path.starts_with(prefix) && (prefix == "/" || path[prefix.size()] == '/'));
}

bool LeavesRoot(const std::string& relative) {
  if (relative.starts_with('/')) return true;
  for (size_t start = 0; start <= relative.size();) {
    const size_t end = std::min(relative.find('/', start), relative.size());
    if (relative.substr(start, end - start) == "..") return true;
    start = end + 1;
  }
  return false;
}

}  // namespace

/// Holds the bytes even after the name is gone, as an open descriptor does.
class SimFile final : public env::File {
 public:
  SimFile(SimDisk& disk, std::string path, std::shared_ptr<std::string> bytes)
      : disk_(disk), path_(std::move(path)), bytes_(std::move(bytes)) {}

  base::Result<size_t> ReadAt(uint64_t offset, std::span<char> out) override {
    if (const base::Status good = disk_.Check(path_); !good.ok()) return good.error();
    if (offset >= bytes_->size()) return size_t{0};
    const size_t n = std::min<size_t>(out.size(), bytes_->size() - offset);
    std::memcpy(out.data(), bytes_->data() + offset, n);
    return n;
  }
  base::Result<uint64_t> Size() override { return static_cast<uint64_t>(bytes_->size()); }
  base::Status Append(std::string_view bytes) override {
    if (const base::Status good = disk_.CheckWrite(path_); !good.ok()) return good;
    if (const base::Status room = disk_.Take(bytes.size()); !room.ok()) return room;
    bytes_->append(bytes);
    return {};
  }
  base::Status Sync() override { return disk_.Check(path_); }

 private:
  SimDisk& disk_;
  std::string path_;
  std::shared_ptr<std::string> bytes_;
};

namespace {

void SetFault(std::map<std::string, int>& faults, const std::string& prefix, int error) {
  if (error == 0) {
    faults.erase(Normalize(prefix));
  } else {
    faults[Normalize(prefix)] = error;
  }
}

base::Status FindFault(const std::map<std::string, int>& faults, const std::string& path) {
  for (const auto& [prefix, error] : faults) {
    if (IsBelow(path, prefix)) return Errno(path, error);
  }
  return {};
}

}  // namespace

void SimDisk::FailBelow(const std::string& prefix, int error) { SetFault(failing_, prefix, error); }
void SimDisk::FailWritesBelow(const std::string& prefix, int error) { SetFault(failing_writes_, prefix, error); }

base::Status SimDisk::Check(const std::string& path) const { return FindFault(failing_, path); }

base::Status SimDisk::CheckWrite(const std::string& path) const {
  if (const base::Status good = Check(path); !good.ok()) return good;
  return FindFault(failing_writes_, path);
}

base::Status SimDisk::Take(uint64_t bytes) {
  if (bytes > free_bytes_) return base::Error{"no space left on device", ENOSPC};
  free_bytes_ -= bytes;
  return {};
}

SimDisk::Node* SimDisk::FindNode(const std::string& path) {
  const auto found = nodes_.find(path);
  return found == nodes_.end() ? nullptr : &found->second;
}

base::Result<std::string> SimDisk::ReadFile(const std::string& raw, uint64_t bytes_max) {
  const std::string path = Normalize(raw);
  if (const base::Status good = Check(path); !good.ok()) return good.error();
  const Node* node = FindNode(path);
  if (node == nullptr) return Errno(path, ENOENT);
  if (node->directory) return Errno(path, EISDIR);
  if (node->bytes->size() > bytes_max) return Errno(path, EFBIG);
  return *node->bytes;
}

base::Status SimDisk::WriteFileAtomically(const std::string& raw, std::string_view bytes, uint32_t mode) {
  const std::string path = Normalize(raw);
  if (const base::Status good = CheckWrite(path); !good.ok()) return good;
  if (const base::Status room = Take(bytes.size()); !room.ok()) return room;
  if (Node* node = FindNode(path); node != nullptr && node->directory) return Errno(path, EISDIR);
  nodes_[path] = {false, std::make_shared<std::string>(bytes), loop_.Wall(), mode};
  return {};
}

base::Status SimDisk::MakeDirectories(const std::string& raw, uint32_t mode) {
  const std::string path = Normalize(raw);
  if (const base::Status good = CheckWrite(path); !good.ok()) return good;
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    const Node* node = FindNode(part);
    if (node != nullptr && !node->directory) return Errno(part, ENOTDIR);
    if (node == nullptr) nodes_[part] = {true, nullptr, loop_.Wall(), mode};
    if (end == std::string::npos) return {};
  }
}

base::Status SimDisk::RemoveTree(const std::string& raw) {
  const std::string path = Normalize(raw);
  if (const base::Status good = CheckWrite(path); !good.ok()) return good;
  std::erase_if(nodes_, [&](const auto& entry) { return IsBelow(entry.first, path); });
  return {};
}

base::Status SimDisk::Rename(const std::string& raw_from, const std::string& raw_to) {
  const std::string from = Normalize(raw_from);
  const std::string to = Normalize(raw_to);
  if (const base::Status good = CheckWrite(from); !good.ok()) return good;
  if (FindNode(from) == nullptr) return Errno(from, ENOENT);
  std::map<std::string, Node> moved;
  for (auto it = nodes_.lower_bound(from); it != nodes_.end() && it->first.starts_with(from);) {
    if (!IsBelow(it->first, from)) {
      ++it;
      continue;
    }
    moved[to + it->first.substr(from.size())] = std::move(it->second);
    it = nodes_.erase(it);
  }
  std::erase_if(nodes_, [&](const auto& entry) { return IsBelow(entry.first, to); });
  nodes_.merge(moved);
  return {};
}

base::Result<std::vector<env::FileInfo>> SimDisk::List(const std::string& raw) {
  const std::string path = Normalize(raw);
  if (const base::Status good = Check(path); !good.ok()) return good.error();
  const Node* node = FindNode(path);
  if (node == nullptr) return Errno(path, ENOENT);
  if (!node->directory) return Errno(path, ENOTDIR);
  std::vector<env::FileInfo> out;
  const std::string prefix = path == "/" ? path : path + "/";
  for (auto it = nodes_.lower_bound(prefix); it != nodes_.end() && it->first.starts_with(prefix); ++it) {
    if (it->first.find('/', prefix.size()) == std::string::npos) out.push_back(*Stat(it->first));
  }
  return out;
}

base::Result<env::FileInfo> SimDisk::Stat(const std::string& raw) {
  const std::string path = Normalize(raw);
  if (const base::Status good = Check(path); !good.ok()) return good.error();
  const Node* node = FindNode(path);
  if (node == nullptr) return Errno(path, ENOENT);
  env::FileInfo info;
  info.name = path.substr(path.rfind('/') + 1);
  info.kind = node->directory ? env::FileInfo::Kind::kDirectory : env::FileInfo::Kind::kFile;
  info.size = node->directory ? 0 : node->bytes->size();
  info.modified = node->modified;
  info.mode = node->mode;
  return info;
}

base::Result<env::DiskSpace> SimDisk::Space(const std::string& path) {
  if (const base::Status good = Check(Normalize(path)); !good.ok()) return good.error();
  return env::DiskSpace{uint64_t{1} << 40, free_bytes_};
}

base::Result<std::shared_ptr<env::File>> SimDisk::OpenForReading(const std::string& raw) {
  const std::string path = Normalize(raw);
  if (const base::Status good = Check(path); !good.ok()) return good.error();
  Node* node = FindNode(path);
  if (node == nullptr) return Errno(path, ENOENT);
  if (node->directory) return Errno(path, EISDIR);
  return std::shared_ptr<env::File>(std::make_shared<SimFile>(*this, path, node->bytes));
}

base::Result<std::shared_ptr<env::File>> SimDisk::OpenBeneath(const std::string& root, const std::string& relative) {
  if (LeavesRoot(relative)) return Errno(relative, EXDEV);
  return OpenForReading(root + "/" + relative);
}

base::Result<std::shared_ptr<env::File>> SimDisk::OpenForAppending(const std::string& raw, uint32_t mode) {
  const std::string path = Normalize(raw);
  if (FindNode(path) == nullptr) {
    if (const base::Status made = WriteFileAtomically(path, "", mode); !made.ok()) return made.error();
  }
  return OpenForReading(path);
}

base::Result<bool> SimDisk::RemoveBeneath(const std::string& root, const std::string& relative) {
  if (LeavesRoot(relative)) return Errno(relative, EXDEV);
  const std::string path = Normalize(root + "/" + relative);
  if (const base::Status good = CheckWrite(path); !good.ok()) return good.error();
  const Node* node = FindNode(path);
  if (node != nullptr && node->directory) {
    const auto next = nodes_.upper_bound(path + "/");
    if (next != nodes_.end() && next->first.starts_with(path + "/")) return Errno(path, ENOTEMPTY);
  }
  return nodes_.erase(path) > 0;
}

base::Status SimDisk::WriteAt(const std::string& root, const std::string& relative, uint64_t offset,
                              std::string_view bytes) {
  if (LeavesRoot(relative)) return Errno(relative, EXDEV);
  const std::string path = Normalize(root + "/" + relative);
  if (const base::Status good = CheckWrite(path); !good.ok()) return good;
  const Node* parent = FindNode(path.substr(0, path.rfind('/')));
  if (parent == nullptr || !parent->directory) return Errno(path, ENOENT);
  Node* node = FindNode(path);
  if (node != nullptr && node->directory) return Errno(path, EISDIR);
  if (const base::Status room = Take(bytes.size()); !room.ok()) return room;
  if (node == nullptr) node = &(nodes_[path] = {false, std::make_shared<std::string>(), loop_.Wall(), 0644});
  std::string& held = *node->bytes;
  if (offset == 0) held.clear();
  held.resize(std::max(held.size(), static_cast<size_t>(offset) + bytes.size()));
  std::copy(bytes.begin(), bytes.end(), held.begin() + static_cast<std::ptrdiff_t>(offset));
  return {};
}

base::Status SimDisk::Shorten(const std::string& root, const std::string& relative, uint64_t bytes) {
  if (LeavesRoot(relative)) return Errno(relative, EXDEV);
  const std::string path = Normalize(root + "/" + relative);
  if (const base::Status good = CheckWrite(path); !good.ok()) return good;
  const Node* node = FindNode(path);
  if (node == nullptr || node->directory) return Errno(path, node == nullptr ? ENOENT : EISDIR);
  if (node->bytes->size() > bytes) node->bytes->resize(bytes);
  return {};
}

}  // namespace fairlead::env_sim
