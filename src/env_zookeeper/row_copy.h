#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "env/alive.h"
#include "env/store.h"
#include "env_zookeeper/layout.h"
#include "env_zookeeper/own_rows.h"
#include "env_zookeeper/session.h"

namespace fairlead::env_zookeeper {

/// Which node holds a row now.
struct RowPlace {
  uint64_t version = 0;
  uint32_t parts = 0;
  friend bool operator==(const RowPlace&, const RowPlace&) = default;
};
using RowId = std::pair<std::string, std::string>;  // table, key

/// What lies in ZooKeeper as a leadership begins.
struct LoadedRows {
  Head head;
  std::map<RowId, RowPlace> places;
  std::map<RowId, std::string> values;
  /// Names that are to be free: of parts that no row claims (a writer died between them and it), and of rows of
  /// versions to come, which would fit among ours then.
  std::vector<std::string> leftovers;
  env::ForeignRows foreign;
  std::set<uint64_t> taken;  // versions above the head's that names of those two have: for no row to come
};

/// A copy of the rows below /rows, which a standby keeps up to date while another leads. A node there is never
/// changed, so the list of names tells what is new, and only that is read: an update costs one list, unless no name has
/// come or gone since the last one, and the nodes that came, many at a time. Nodes of strangers are told from rows by
/// their names and by when they were made (own_rows.h), and are not read. After this object's end no question of its is
/// answered any more.
class RowCopy {
 public:
  RowCopy(std::shared_ptr<Session> session, Layout layout) : session_(std::move(session)), layout_(std::move(layout)) {}
  RowCopy(const RowCopy&) = delete;
  RowCopy& operator=(const RowCopy&) = delete;

  /// kOk: the copy has all that was there when this was called. kLost, kExpired, kNoAuth: nothing is known; kNoNode: a
  /// row went while it was read, to be tried again; kOther: what is there is damaged, `reason` says how. What was read
  /// so far is kept. The session tells of the next change of /head.
  using Done = std::function<void(Rc, const std::string& reason)>;
  void Update(Done done);

  /// Nodes that the last update has read.
  size_t fetched() const { return fetched_; }

  /// The value of one row in its latest version, if the copy has it whole.
  std::optional<std::string> Find(const std::string& table, const std::string& key) const;

  /// The rows of the copy, which is empty then. An Error: they are not what /head says.
  base::Result<LoadedRows> Take();

 private:
  using Nodes = std::map<std::string, std::string>;  // values by name
  struct Listed {
    std::optional<RowName> row;
    int64_t made = 0;  // Node::made; 0: not known yet
    bool IsRow() const { return row && !row->part; }
  };
  using Answer = std::function<void(Rc, Node)>;
  using Ask = std::function<void(const std::string& path, Answer done)>;
  using Use = std::function<bool(const std::string& name, Rc rc, const Node& node)>;  // false: it is needed

  void Begin();
  void Clear();
  void LookAtRows();
  void List();
  void Know(const std::vector<std::string>& names);
  void Choose();
  void FetchRows(const std::vector<RowNode>& rows);
  void FetchParts(Nodes& held);
  void Fetch(std::function<void()> then);
  /// Asks for each missing name, many at a time, then goes on, or ends at the first that cannot be read.
  void Each(Ask ask, Use use, std::function<void()> then);
  void AskMore();
  void Answered(const std::string& name, Rc rc, const Node& node);
  void LeaveOut(const std::string& name, const Listed& listed, LoadedRows& rows) const;
  void Fail(Rc rc, const std::string& reason);
  void End();
  /// The callback of a call, dropped when the copy has gone.
  template <class Then>
  auto Guard(Then then) {
    return alive_(std::move(then));
  }

  std::shared_ptr<Session> session_;
  const Layout layout_;
  Head head_;
  HeadTimes head_times_;                 // a place that was removed and made again uses names a second time
  int64_t listed_ = 0;                   // children_changed of /rows at the last list; 0: to be listed
  std::map<std::string, Listed> names_;  // at the last list
  Nodes nodes_;                          // rows and their parts
  std::vector<std::string> missing_;     // names of those that are to be asked for
  Ask ask_;
  Use use_;
  std::function<void()> then_;
  size_t under_way_ = 0;
  size_t fetched_ = 0;
  Rc rc_ = Rc::kOk;  // of the update under way
  std::string reason_;
  std::vector<Done> current_;  // who waits for it; empty: there is none
  std::vector<Done> next_;     // asked since it began
  env::Alive alive_;
};

}  // namespace fairlead::env_zookeeper
