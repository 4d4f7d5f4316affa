#include "env_zookeeper/closing.h"

#include <iterator>
#include <utility>

namespace fairlead::env_zookeeper {

namespace {
constexpr size_t kUnderWayMax = 500;
}

void Closing::Run(Done done) {
  done_ = std::move(done);
  const std::string own = layout_.Member(id_);
  session_->GetAcl(own, Guard([this, own](Rc rc, const std::string& acl) {
                     if (rc != Rc::kOk) return End(rc, own);
                     own_ = acl;
                     CloseOwn(0);
                   }));
}

// The root first: who may write there could put another /rows in its place.
void Closing::CloseOwn(size_t at) {
  const std::string paths[] = {layout_.root, layout_.Epoch(), layout_.Head(), layout_.Rows(), layout_.Members()};
  if (at == std::size(paths)) return ListRows();
  session_->GetAcl(paths[at], Guard([this, at, path = paths[at]](Rc rc, const std::string& acl) {
                     if (rc != Rc::kOk) return End(rc, path);
                     if (acl == own_) return CloseOwn(at + 1);
                     Mark([this, at, path] { Close(path, [this, at] { CloseOwn(at + 1); }); });
                   }));
}

void Closing::ListRows() {
  session_->Children(layout_.Rows(), Guard([this](Rc rc, const std::vector<std::string>& names, int64_t) {
                       if (rc != Rc::kOk) return End(rc, layout_.Rows());
                       for (const std::string& name : names) paths_.push_back(layout_.Row(name));
                       LookAtRows();
                     }));
}

void Closing::LookAtRows() {
  while (under_way_ < kUnderWayMax && !paths_.empty()) {
    const std::string path = std::move(paths_.back());
    paths_.pop_back();
    ++under_way_;
    session_->GetAcl(path, Guard([this, path](Rc rc, const std::string& acl) { Looked(path, rc, acl); }));
  }
  if (under_way_ > 0) return;
  if (open_.empty()) return Finish();
  Mark([this] { CloseRows(); });
}

void Closing::Looked(const std::string& path, Rc rc, const std::string& acl) {
  --under_way_;
  if (!done_) return;
  if (rc != Rc::kOk && rc != Rc::kNoNode) return End(rc, path);  // a leader may have removed it
  if (rc == Rc::kOk && acl != own_) open_.push_back(path);
  LookAtRows();
}

void Closing::CloseRows() {
  while (under_way_ < kUnderWayMax && !open_.empty()) {
    const std::string path = std::move(open_.back());
    open_.pop_back();
    ++under_way_;
    Close(path, [this] {
      --under_way_;
      CloseRows();
    });
  }
  if (under_way_ == 0) Finish();
}

// What was found open was marked before it was closed; somebody may have removed the mark while the root lay open.
void Closing::Finish() {
  if (opened_ == 0) return End(Rc::kOk, "");
  Mark([this] { End(Rc::kOk, ""); });
}

void Closing::Close(const std::string& path, std::function<void()> then) {
  if (opened_++ == 0) first_open_ = path;
  session_->Close(path, Guard([this, path, then = std::move(then)](Rc rc) {
                    if (rc != Rc::kOk && rc != Rc::kNoNode) return End(rc, path);
                    then();
                  }));
}

void Closing::Mark(std::function<void()> then) {
  session_->Multi({{Op::Kind::kCreate, layout_.LaidOpen(), ""}},
                  Guard([this, then = std::move(then)](const Session::MultiAnswer& answer) {
                    if (answer.rc != Rc::kOk && answer.rc != Rc::kNodeExists) return End(answer.rc, layout_.LaidOpen());
                    then();
                  }));
}

void Closing::End(Rc rc, const std::string& path) {
  if (const Done done = std::exchange(done_, nullptr)) done(rc, path);
}

}  // namespace fairlead::env_zookeeper
