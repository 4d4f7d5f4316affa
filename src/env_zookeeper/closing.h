#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/alive.h"
#include "env_zookeeper/layout.h"
#include "env_zookeeper/session.h"

namespace fairlead::env_zookeeper {

/// Closes what lies open below a root to a session that has an identity: nodes that were made before there was one, or
/// that somebody planted. From then on nobody else makes nodes there. Keys that lay open are to be replaced: a node
/// (Layout::LaidOpen) says so until a leader has done it, whoever is started or dies meanwhile. After this object's end
/// no question of its is answered any more.
class Closing {
 public:
  /// `id`: the member whose node this session has made; its ACL is what all others must have.
  Closing(std::shared_ptr<Session> session, Layout layout, std::string id)
      : session_(std::move(session)), layout_(std::move(layout)), id_(std::move(id)) {}
  Closing(const Closing&) = delete;
  Closing& operator=(const Closing&) = delete;

  /// kOk: everything is closed. Else what went wrong at `path`; kNoAuth: it is another identity's. Cost: a question for
  /// each row, many at a time.
  using Done = std::function<void(Rc, const std::string& path)>;
  void Run(Done done);

  /// Nodes that were open.
  size_t opened() const { return opened_; }
  const std::string& first_open() const { return first_open_; }
  /// Whether it is the ACL of a node of ours.
  bool IsOwn(const std::string& acl) const { return acl == own_; }

 private:
  void CloseOwn(size_t at);
  void ListRows();
  void LookAtRows();
  void Looked(const std::string& path, Rc rc, const std::string& acl);
  void CloseRows();
  void Finish();
  void Close(const std::string& path, std::function<void()> then);
  /// Makes Layout::LaidOpen.
  void Mark(std::function<void()> then);
  void End(Rc rc, const std::string& path);
  template <class Then>
  auto Guard(Then then) {
    return alive_(std::move(then));
  }

  std::shared_ptr<Session> session_;
  const Layout layout_;
  const std::string id_;
  Done done_;
  std::string own_;                 // the ACL of a node of ours
  std::vector<std::string> paths_;  // that are to be looked at, then to be closed
  size_t under_way_ = 0;
  std::vector<std::string> open_;
  size_t opened_ = 0;
  std::string first_open_;
  env::Alive alive_;
};

}  // namespace fairlead::env_zookeeper
