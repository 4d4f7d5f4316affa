#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/fields.h"

// Where things lie below a root ("/fairlead/CLUSTER", whose data is the mark of this layout):
//
//   /leader             ephemeral, the leader's id: who has it leads
//   /epoch              changed by each leader in the transaction that makes /leader; its version fences
//   /members/ID         ephemeral, one for each process that takes part
//   /head               how many transactions and rows there are (Head)
//   /rows/TABLE,KEY,V   one row as version V. A node is never changed: a new value is a new node and the end of the
//   old,
//                       in one transaction, so that a list of names tells what has changed
//   /laid-open          there until a leader has replaced the keys that lay open to others (closing.h)
//   /rows/TABLE,KEY,V,N part N of a row that is longer than a node may be; it counts only once TABLE,KEY,V is there

namespace fairlead::env_zookeeper {

inline constexpr char kMark[] = "fairlead state 1";

/// The most bytes of a node, and so of a transaction: half the default of a ZooKeeper server (jute.maxbuffer, 1 MiB).
inline constexpr size_t kNodeBytesMax = 512 << 10;

struct Layout {
  std::string root;
  std::string Leader() const { return root + "/leader"; }
  std::string Epoch() const { return root + "/epoch"; }
  std::string Members() const { return root + "/members"; }
  std::string Member(std::string_view id) const { return Members() + "/" + std::string(id); }
  std::string Head() const { return root + "/head"; }
  std::string LaidOpen() const { return root + "/laid-open"; }
  std::string Rows() const { return root + "/rows"; }
  std::string Row(std::string_view name) const { return Rows() + "/" + std::string(name); }
};

/// Changed by every transaction.
struct Head {
  uint64_t version = 0;  // that of the last transaction's rows
  uint64_t rows = 0;
  FL_FIELDS(version, rows)
};

struct RowName {
  std::string table;
  std::string key;
  uint64_t version = 0;
  std::optional<uint32_t> part;
  friend bool operator==(const RowName&, const RowName&) = default;
};

/// The name of a row's node: any bytes of table and key, told apart again by ParseRowName.
std::string ToString(const RowName& name);
/// None for what ToString does not give.
std::optional<RowName> ParseRowName(std::string_view name);

/// A row's node holds its value ("v" before it), or says in how many parts it lies ("p" and the number).
std::string InlineValue(std::string_view value);
std::string PartedValue(uint32_t parts);
/// The number of parts, 0 for a value that lies in the node; none: damaged.
std::optional<uint32_t> PartsOf(std::string_view node);

}  // namespace fairlead::env_zookeeper
