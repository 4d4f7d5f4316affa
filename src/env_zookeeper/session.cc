#include "env_zookeeper/session.h"

#include <zookeeper/zookeeper.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

namespace fairlead::env_zookeeper {

namespace {

Rc RcOf(int code) {
  switch (code) {
    case ZOK:
      return Rc::kOk;
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT:
      return Rc::kLost;
    case ZSESSIONEXPIRED:
    case ZINVALIDSTATE:
    case ZCLOSING:
      return Rc::kExpired;
    case ZNONODE:
      return Rc::kNoNode;
    case ZNODEEXISTS:
      return Rc::kNodeExists;
    case ZBADVERSION:
      return Rc::kBadVersion;
    case ZNOAUTH:
    case ZAUTHFAILED:
    case ZINVALIDACL:
      return Rc::kNoAuth;
    default:
      return Rc::kOther;
  }
}

/// The client is told by functions and a pointer: this is what the pointer of a call means.
template <class Answer>
struct Pending {
  std::shared_ptr<Session::Mail> mail;
  Answer done;
};

}  // namespace

struct Session::Mail {
  env::Loop& loop;
  OnEvent on_event;
  bool open = true;  // read and written on the loop alone

  template <class Work>
  static void Deliver(const std::shared_ptr<Mail>& mail, Work work) {
    mail->loop.Post([mail, work = std::move(work)] {
      if (mail->open) work();
    });
  }
};

namespace {

// The watcher's context is a pointer to the Session's own shared pointer, which outlives the handle.
void Watch(zhandle_t*, int type, int state, const char* path, void* context) {
  const std::shared_ptr<Session::Mail> mail = *static_cast<std::shared_ptr<Session::Mail>*>(context);
  Session::Event event = Session::Event::kChanged;
  if (type == ZOO_SESSION_EVENT) {
    if (state == ZOO_CONNECTED_STATE) {
      event = Session::Event::kConnected;
    } else if (state == ZOO_EXPIRED_SESSION_STATE) {
      event = Session::Event::kExpired;
    } else if (state == ZOO_AUTH_FAILED_STATE) {
      event = Session::Event::kRefused;
    } else {
      event = Session::Event::kDisconnected;
    }
  }
  Session::Mail::Deliver(mail, [mail, event, where = std::string(path ? path : "")] { mail->on_event(event, where); });
}

template <class Answer>
std::unique_ptr<Pending<Answer>> Claim(const void* data) {
  return std::unique_ptr<Pending<Answer>>(static_cast<Pending<Answer>*>(const_cast<void*>(data)));
}

using GetDone = std::function<void(Rc, Node)>;
using ChildrenDone = std::function<void(Rc, std::vector<std::string>, int64_t)>;

using AclDone = std::function<void(Rc, std::string)>;
using CloseDone = std::function<void(Rc)>;

void OnAcl(int code, ACL_vector* acl, Stat*, const void* data) {
  const auto call = Claim<AclDone>(data);
  std::set<std::string> rights;
  for (int i = 0; code == ZOK && i < acl->count; ++i) {
    const ACL& one = acl->data[i];
    rights.insert(std::string(one.id.scheme) + ":" + one.id.id + ":" + std::to_string(one.perms) + "\n");
  }
  std::string text;
  for (const std::string& one : rights) text += one;
  Session::Mail::Deliver(call->mail,
                         [done = std::move(call->done), rc = RcOf(code), text = std::move(text)] { done(rc, text); });
}

void OnClosed(int code, const void* data) {
  const auto call = Claim<CloseDone>(data);
  Session::Mail::Deliver(call->mail, [done = std::move(call->done), rc = RcOf(code)] { done(rc); });
}

void OnGet(int code, const char* value, int length, const Stat* stat, const void* data) {
  const auto call = Claim<GetDone>(data);
  Node node;
  if (code == ZOK) {
    if (length > 0) node.value.assign(value, static_cast<size_t>(length));
    node.changed = stat->mzxid;
    node.version = stat->version;
    node.owner = stat->ephemeralOwner;
    node.made = stat->czxid;
    node.children_changed = stat->pzxid;
    node.made_at = {stat->ctime};
  }
  Session::Mail::Deliver(call->mail,
                         [done = std::move(call->done), rc = RcOf(code), node = std::move(node)] { done(rc, node); });
}

void OnLook(int code, const Stat* stat, const void* data) { OnGet(code, nullptr, 0, stat, data); }

void OnChildren(int code, const String_vector* strings, const Stat* stat, const void* data) {
  const auto call = Claim<ChildrenDone>(data);
  std::vector<std::string> names;
  for (int i = 0; code == ZOK && i < strings->count; ++i) names.emplace_back(strings->data[i]);
  Session::Mail::Deliver(call->mail, [done = std::move(call->done), rc = RcOf(code), names = std::move(names),
                                      changed = code == ZOK ? stat->pzxid : 0] { done(rc, names, changed); });
}

}  // namespace

/// What the client reads and writes until the answer is there.
struct Session::MultiCall {
  std::shared_ptr<Mail> mail;
  std::vector<Op> ops;
  std::function<void(MultiAnswer)> done;
  std::vector<zoo_op_t> raw;
  std::vector<zoo_op_result_t> results;
  std::vector<Stat> stats;

  void Build(const ACL_vector* acl) {
    raw.resize(ops.size());
    results.resize(ops.size());
    stats.resize(ops.size());
    for (size_t i = 0; i < ops.size(); ++i) {
      const Op& op = ops[i];
      const char* path = op.path.c_str();
      const int length = static_cast<int>(op.value.size());
      switch (op.kind) {
        case Op::Kind::kCheck:
          zoo_check_op_init(&raw[i], path, op.version);
          break;
        case Op::Kind::kCreate:
          zoo_create_op_init(&raw[i], path, op.value.data(), length, acl, 0, nullptr, 0);
          break;
        case Op::Kind::kCreateEphemeral:
          zoo_create_op_init(&raw[i], path, op.value.data(), length, acl, ZOO_EPHEMERAL, nullptr, 0);
          break;
        case Op::Kind::kSet:
          zoo_set_op_init(&raw[i], path, op.value.data(), length, op.version, &stats[i]);
          break;
        case Op::Kind::kDelete:
          zoo_delete_op_init(&raw[i], path, op.version);
          break;
      }
    }
  }

  MultiAnswer Answer(int code) const {
    MultiAnswer answer;
    answer.rc = RcOf(code);
    if (code == ZOK) {
      for (const Stat& stat : stats) answer.versions.push_back(stat.version);
      return answer;
    }
    answer.reason = zerror(code);
    // Those before the one that failed say ZOK, those behind it that they were not tried.
    for (size_t i = 0; i < results.size() && answer.failed < 0; ++i) {
      if (results[i].err == code) answer.failed = static_cast<int>(i);
    }
    if (answer.failed >= 0) answer.reason += ": " + ops[static_cast<size_t>(answer.failed)].path;
    return answer;
  }

  static void OnDone(int code, const void* data) {
    const std::unique_ptr<MultiCall> call(static_cast<MultiCall*>(const_cast<void*>(data)));
    Mail::Deliver(call->mail, [done = std::move(call->done), answer = call->Answer(code)] { done(answer); });
  }
};

Session::Session(env::Loop& loop, const Options& options, OnEvent on_event)
    : mail_(std::make_shared<Mail>(loop, OnEvent())), scheme_(options.scheme), identity_(options.identity) {
  mail_->on_event = [this, on_event = std::move(on_event)](Event event, const std::string& path) {
    if (event == Event::kConnected) Identify();
    on_event(event, path);
  };
  zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
  // What its lines say comes as events and answers, too.
  handle_ = zookeeper_init2(options.servers.c_str(), Watch, static_cast<int>(options.timeout.millis()), nullptr, &mail_,
                            0, [](const char*) {});
  if (handle_ == nullptr) {
    const std::string reason = std::strerror(errno);
    Mail::Deliver(mail_, [mail = mail_, reason] { mail->on_event(Event::kExpired, reason); });
    return;
  }
  Identify();
}

void Session::Identify() {
  if (identified_ || scheme_.empty()) return;
  identified_ = zoo_add_auth(handle_, scheme_.c_str(), identity_.data(), static_cast<int>(identity_.size()), nullptr,
                             nullptr) == ZOK;
}

Session::~Session() {
  mail_->open = false;
  if (handle_ != nullptr) zookeeper_close(handle_);
}

void Session::Multi(std::vector<Op> ops, std::function<void(MultiAnswer)> done) {
  auto call = std::make_unique<MultiCall>();
  call->mail = mail_;
  call->ops = std::move(ops);
  call->done = std::move(done);
  call->Build(!scheme_.empty() ? &ZOO_CREATOR_ALL_ACL : &ZOO_OPEN_ACL_UNSAFE);
  MultiCall* raw = call.release();
  // zoo_amulti of a session that is over frees what it has not set (3.8, free_duplicate_path of a request that was not
  // made).
  const int code = over() ? int{ZINVALIDSTATE}
                          : zoo_amulti(handle_, static_cast<int>(raw->raw.size()), raw->raw.data(), raw->results.data(),
                                       MultiCall::OnDone, raw);
  if (code != ZOK) MultiCall::OnDone(code, raw);
}

void Session::Get(const std::string& path, bool watch, GetDone done) {
  auto* call = new Pending<GetDone>{mail_, std::move(done)};
  const int code =
      handle_ == nullptr ? int{ZINVALIDSTATE} : zoo_aget(handle_, path.c_str(), watch ? 1 : 0, OnGet, call);
  if (code != ZOK) OnGet(code, nullptr, 0, nullptr, call);
}

void Session::Look(const std::string& path, GetDone done) {
  auto* call = new Pending<GetDone>{mail_, std::move(done)};
  const int code = handle_ == nullptr ? int{ZINVALIDSTATE} : zoo_aexists(handle_, path.c_str(), 0, OnLook, call);
  if (code != ZOK) OnLook(code, nullptr, call);
}

void Session::Children(const std::string& path, ChildrenDone done) {
  auto* call = new Pending<ChildrenDone>{mail_, std::move(done)};
  const int code =
      handle_ == nullptr ? int{ZINVALIDSTATE} : zoo_aget_children2(handle_, path.c_str(), 0, OnChildren, call);
  if (code != ZOK) OnChildren(code, nullptr, nullptr, call);
}

void Session::GetAcl(const std::string& path, AclDone done) {
  auto* call = new Pending<AclDone>{mail_, std::move(done)};
  const int code = handle_ == nullptr ? int{ZINVALIDSTATE} : zoo_aget_acl(handle_, path.c_str(), OnAcl, call);
  if (code != ZOK) OnAcl(code, nullptr, nullptr, call);
}

void Session::Close(const std::string& path, CloseDone done) {
  auto* call = new Pending<CloseDone>{mail_, std::move(done)};
  const int code = handle_ == nullptr ? int{ZINVALIDSTATE}
                                      : zoo_aset_acl(handle_, path.c_str(), -1, &ZOO_CREATOR_ALL_ACL, OnClosed, call);
  if (code != ZOK) OnClosed(code, call);
}

bool Session::over() const { return handle_ == nullptr || is_unrecoverable(handle_) != ZOK; }

int64_t Session::id() const { return handle_ == nullptr ? 0 : zoo_client_id(handle_)->client_id; }

base::Duration Session::timeout() const {
  return base::Duration::Millis(handle_ == nullptr ? 0 : zoo_recv_timeout(handle_));
}

}  // namespace fairlead::env_zookeeper
