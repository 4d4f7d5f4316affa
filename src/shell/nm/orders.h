#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
#include "shell/nm/accounts.h"
#include "shell/nm/beneath.h"

namespace fairlead::shell {

/// A directory that the administrator's directory `root` holds for one account, and everything below which is that
/// account's: ROOT/usercache/USER, LOGS/APPLICATION, ROOT/filecache/NUMBER.
struct Top {
  std::string root;
  std::string below;
  uint32_t mode = 0;  // 0: only where it is there already
  FL_FIELDS(root, below, mode)
};

/// What the helper may be asked for (helper.h); nothing else has root's rights.
struct Order {
  enum class Kind : uint8_t { kSupervise, kErrand };
  Kind kind = Kind::kErrand;
  std::string submitter;             // whose account acts; "": the owner of the first of `tops` that is there
  bool is_public = false;            // the account of PUBLIC resources acts
  std::vector<Top> tops;             // made for the account first, where a mode is given
  std::string control;               // kSupervise: directory of the supervisor
  std::vector<std::string> cgroups;  // kSupervise: whose member files the container joins by
  FL_FIELDS(kind, submitter, is_public, tops, control, cgroups)
};

inline constexpr size_t kOrderBytesMax = 64 * 1024;

/// The account that an order is for, and its directories: the only files that are touched with root's rights. Refused:
/// an account that RunAs refuses, a root that is not the agent's or that others may write into, a directory there that
/// is another's. In the order's own process, before it becomes the account.
base::Result<UnixUser> PrepareAccount(const Order& order, const RunAs& policy);

/// Makes or checks one directory of `owner`.
base::Status MakeTop(const Top& top, const UnixUser& owner, const RunAs& policy);

}  // namespace fairlead::shell
