#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"

namespace fairlead::env_posix {

/// A small file beside a database that says: a state was kept here, and so many transactions were acknowledged. A
/// database that is emptied, removed, or whose log has lost its end looks whole by itself; the mark tells.
class StateMark {
 public:
  struct Content {
    uint64_t transactions = 0;
    bool of_this_boot = false;  // the machine has not started since
  };

  explicit StateMark(std::string path);
  ~StateMark();
  StateMark(StateMark&& other) noexcept;
  StateMark& operator=(StateMark&&) = delete;

  const std::string& path() const { return path_; }
  /// What the file says; nothing when it is not there, an error when it is damaged.
  base::Result<std::optional<Content>> Read() const;
  /// Writes it (not synced: a mark that is behind is right, too). Best effort: false when it could not be written.
  bool Write(uint64_t transactions);

 private:
  bool Create(const std::string& text);

  std::string path_;
  std::string boot_;
  int fd_ = -1;
};

}  // namespace fairlead::env_posix
