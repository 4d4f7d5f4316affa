#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "env/loop.h"

struct _zhandle;

namespace fairlead::env_zookeeper {

/// What became of a call, as far as anybody here cares.
enum class Rc : uint8_t {
  kOk,
  kLost,        ///< the connection broke before the answer: it may have happened, and may be asked again
  kExpired,     ///< the session has ended, and with it every ephemeral node
  kNoNode,      ///< there is no such node
  kNodeExists,  ///< there is one already
  kBadVersion,  ///< a node's version is not the expected one
  kNoAuth,      ///< the node's ACL does not let us
  kOther,
};

/// One change of a multi, or its condition.
struct Op {
  enum class Kind : uint8_t { kCheck, kCreate, kCreateEphemeral, kSet, kDelete };
  Kind kind = Kind::kCheck;
  std::string path;
  std::string value;     // kCreate, kSet
  int32_t version = -1;  // kCheck, kSet, kDelete; -1: any
};

struct Node {
  std::string value;
  int32_t version = 0;
  int64_t owner = 0;    // the session of an ephemeral node
  int64_t made = 0;     // by which transaction of the servers'; another for a node that was removed and made again
  int64_t changed = 0;  // by which transaction its value was set last
  int64_t children_changed = 0;  // by which transaction one was added or removed last
  base::WallTime made_at;        // by the clock of the servers' leader
};

/// One session with a ZooKeeper ensemble, by its C client (libzookeeper-mt). Everything is called on the loop's thread,
/// and every answer comes there; destroying the session ends it and drops the answers that are missing.
class Session {
 public:
  enum class Event : uint8_t {
    kConnected,     ///< for the first time or again; every watch is in place
    kDisconnected,  ///< the client looks for a server by itself
    kExpired,       ///< over: make another session
    kRefused,       ///< the servers do not take our identity
    kChanged,       ///< a node that was read with `watch` has changed, once
  };
  using OnEvent = std::function<void(Event, const std::string& path)>;

  struct Options {
    std::string servers;  // "host:port,host:port"
    base::Duration timeout;
    std::string scheme;    // "digest"; empty: nobody in particular
    std::string identity;  // "user:password"
  };

  /// Begins to connect. Blocks while the servers' names are looked up.
  Session(env::Loop& loop, const Options& options, OnEvent on_event);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// All of `ops` or none. `failed`: the place of the one that could not be; -1 where that is not known. `versions`: of
  /// each node that was set, at its place.
  struct MultiAnswer {
    Rc rc = Rc::kOther;
    int failed = -1;
    std::vector<int32_t> versions;
    std::string reason;
  };
  void Multi(std::vector<Op> ops, std::function<void(MultiAnswer)> done);
  void Get(const std::string& path, bool watch, std::function<void(Rc, Node)> done);
  /// The same without the value.
  void Look(const std::string& path, std::function<void(Rc, Node)> done);
  /// The names of a node's children, and Node::children_changed as they were listed.
  void Children(const std::string& path, std::function<void(Rc, std::vector<std::string>, int64_t changed)> done);

  /// Who may do what with a node, as text that is the same for the same rights alone.
  void GetAcl(const std::string& path, std::function<void(Rc, std::string acl)> done);
  /// The node is for our identity alone from now on, as those are that Multi makes.
  void Close(const std::string& path, std::function<void(Rc)> done);

  /// It has ended, though kExpired may still be on its way.
  bool over() const;
  /// The numbers of this session; valid once connected.
  int64_t id() const;
  /// What the servers agreed to.
  base::Duration timeout() const;

  /// Answers of calls and events, on their way from the client's threads to the loop.
  struct Mail;

 private:
  /// Once: the client sends it with every further connection. It takes none while no server can be reached.
  void Identify();

  struct MultiCall;
  std::shared_ptr<Mail> mail_;
  _zhandle* handle_ = nullptr;
  const std::string scheme_;  // empty: new nodes are for everybody, else for our identity alone
  const std::string identity_;
  bool identified_ = false;
};

}  // namespace fairlead::env_zookeeper
