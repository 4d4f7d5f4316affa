#include "env_posix/disk_words.h"

#include <sys/statvfs.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace fairlead::env_posix {
namespace {

/// "12 KiB of 40 MiB are free".
std::string FreeSpace(const std::string& path) {
  struct statvfs space;
  std::filesystem::path nearest = path;  // the file itself may not have come to be
  while (::statvfs(nearest.c_str(), &space) < 0) {
    if (!nearest.has_relative_path()) return "free space unknown";
    nearest = nearest.parent_path();
    if (nearest.empty()) nearest = ".";
  }
  const auto bytes = [&](uint64_t blocks) {
    const uint64_t kib = blocks * space.f_frsize / 1024;
    return kib < 10 * 1024 ? std::to_string(kib) + " KiB" : std::to_string(kib / 1024) + " MiB";
  };
  std::string text = bytes(space.f_bavail) + " of " + bytes(space.f_blocks) + " are free";
  if (space.f_files > 0 && space.f_favail == 0) text += ", and no more files can be made";
  return text;
}

}  // namespace

std::string DiskWords(const std::string& path, int error) {
  switch (error) {
    case ENOSPC:
      return "the disk is full (" + FreeSpace(path) + "); free some space";
    case EDQUOT:
      return "the disk quota is used up (" + FreeSpace(path) + "); free some space";
    case EROFS:
      return "the file system is read-only; mount it for writing, and look into the system's log for why it is not";
    case EIO:
      return "the disk fails (" + std::string(std::strerror(error)) + "); look into the system's log";
    default:
      return std::strerror(error);
  }
}

}  // namespace fairlead::env_posix
