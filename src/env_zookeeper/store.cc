#include "env_zookeeper/store.h"

#include <algorithm>
#include <utility>

#include "base/stored.h"

namespace fairlead::env_zookeeper {

namespace {

using env::CommitFailure;

constexpr size_t kBatchRows = 1000;        // of one transaction
constexpr size_t kOpBytes = 200;           // what a row takes besides its value
constexpr int kTriesMax = 3;               // of a write at which the connection breaks
constexpr size_t kSurelyTaken = 64 << 10;  // no server is set to take less in one packet
constexpr base::Duration kRetry = base::Duration::Millis(50);

}  // namespace

ZooKeeperStore::ZooKeeperStore(env::Loop& loop, std::shared_ptr<Session> session, Layout layout, int32_t fence,
                               LoadedRows rows, bool laid_open, Lost lost)
    : loop_(loop),
      session_(std::move(session)),
      layout_(std::move(layout)),
      fence_(fence),
      head_(rows.head),
      places_(std::move(rows.places)),
      values_(std::move(rows.values)),
      leftovers_(std::move(rows.leftovers)),
      taken_(std::move(rows.taken)),
      foreign_(std::move(rows.foreign)),
      laid_open_(laid_open),
      lost_(std::move(lost)) {}

ZooKeeperStore::~ZooKeeperStore() = default;

base::Result<std::vector<env::Row>> ZooKeeperStore::Load(const std::string& table) {
  std::vector<env::Row> rows;
  auto at = values_.lower_bound({table, ""});
  while (at != values_.end() && at->first.first == table) {
    rows.push_back({table, at->first.second, std::move(at->second)});
    at = values_.erase(at);
  }
  return rows;
}

void ZooKeeperStore::Commit(std::vector<env::Row> rows, std::function<void(env::CommitStatus)> done) {
  if (over_) return loop_.Post([done = std::move(done), error = *over_] { done(error); });
  queue_.push_back({std::move(rows), std::move(done)});
  // What this turn of the loop still commits goes into the same transaction.
  if (queue_.size() > 1 || batch_) return;
  loop_.Post(alive_([this] { Begin(); }));
}

void ZooKeeperStore::Begin() {
  if (batch_ || queue_.empty() || over_) return;
  Build();
  Send();
}

void ZooKeeperStore::Build() {
  batch_ = std::make_unique<Batch>();
  std::map<RowId, std::optional<std::string>> rows;
  size_t bytes = 0;
  while (!queue_.empty() && rows.size() < kBatchRows) {
    size_t more = 0;
    for (const env::Row& row : queue_.front().rows) more += kOpBytes + row.key.size() + row.value.value_or("").size();
    if (!batch_->commits.empty() && bytes + more > batch_bytes_max_) break;
    bytes += more;
    for (const env::Row& row : queue_.front().rows) rows[{row.table, row.key}] = row.value;
    batch_->commits.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  batch_->bytes = bytes;
  do {
    ++head_.version;
  } while (taken_.contains(head_.version));
  batch_->head = {head_.version, places_.size()};
  std::vector<Op> last{Check(), {}};
  for (const auto& [id, value] : rows) PutRow(id, value, last);
  if (laid_open_) last.push_back({Op::Kind::kDelete, layout_.LaidOpen(), ""});
  last[1] = {Op::Kind::kSet, layout_.Head(), base::EncodeStored(batch_->head)};
  batch_->transactions.push_back(std::move(last));
}

void ZooKeeperStore::PutRow(const RowId& id, const std::optional<std::string>& value, std::vector<Op>& last) {
  RowName name{id.first, id.second, batch_->head.version, std::nullopt};
  if (const auto old = places_.find(id); old != places_.end()) {
    RowName gone{id.first, id.second, old->second.version, std::nullopt};
    last.push_back({Op::Kind::kDelete, layout_.Row(ToString(gone)), ""});
    for (uint32_t i = 0; i < old->second.parts; ++i) {
      gone.part = i;
      last.push_back({Op::Kind::kDelete, layout_.Row(ToString(gone)), ""});
    }
    --batch_->head.rows;
  }
  if (!value) {
    batch_->places[id] = std::nullopt;
    return;
  }
  ++batch_->head.rows;
  const std::string whole = layout_.Row(ToString(name));
  uint32_t parts = 0;
  if (value->size() <= part_bytes_max_) {
    last.push_back({Op::Kind::kCreate, whole, InlineValue(*value)});
  } else {
    for (size_t from = 0; from < value->size(); from += part_bytes_max_) {
      name.part = parts++;
      batch_->transactions.push_back(
          {Check(), {Op::Kind::kCreate, layout_.Row(ToString(name)), value->substr(from, part_bytes_max_)}});
      batch_->parts.push_back(ToString(name));
    }
    last.push_back({Op::Kind::kCreate, whole, PartedValue(parts)});
  }
  batch_->places[id] = RowPlace{batch_->head.version, parts};
}

void ZooKeeperStore::Send() {
  session_->Multi(batch_->transactions[batch_->next],
                  alive_([this](const Session::MultiAnswer& answer) { Sent(answer); }));
}

void ZooKeeperStore::Sent(const Session::MultiAnswer& answer) {
  const bool is_last = batch_->next + 1 == batch_->transactions.size();
  // The part was written before the connection broke.
  const bool is_there = !is_last && answer.rc == Rc::kNodeExists && batch_->tries > 0;
  if (answer.rc == Rc::kOk || is_there) {
    if (is_last) return Committed();
    ++batch_->next;
    batch_->tries = 0;
    return Send();
  }
  if (answer.rc == Rc::kLost) return AfterLoss();
  if (answer.rc == Rc::kBadVersion && answer.failed == 0) {
    return Over({CommitFailure::kFenced, "another process has led since (" + answer.reason + ")"});
  }
  if (answer.rc == Rc::kExpired) return Over({CommitFailure::kGone, "the session with ZooKeeper has ended"});
  // Nobody but a leader changes these nodes, so what we know of them is wrong: to be read again.
  Over({CommitFailure::kGone, "ZooKeeper did not take a transaction: " + answer.reason});
}

// The connection broke before the answer. A transaction of nothing but the check is behind everything that was sent
// before; then /head tells, if /epoch is still ours when it has been read.
void ZooKeeperStore::AfterLoss() {
  session_->Multi({Check()}, alive_([this](const Session::MultiAnswer& answer) {
                    if (answer.rc == Rc::kBadVersion)
                      return Over({CommitFailure::kFenced, "another process has led since"});
                    if (answer.rc != Rc::kOk) return LookAgain(answer.rc);
                    session_->Get(layout_.Head(), false, alive_([this](Rc rc, const Node& head) {
                                    if (rc != Rc::kOk) return LookAgain(rc);
                                    session_->Get(layout_.Epoch(), false,
                                                  alive_([this, head = head.value](Rc epoch_rc, const Node& epoch) {
                                                    if (epoch_rc != Rc::kOk) return LookAgain(epoch_rc);
                                                    Judge(head, epoch.version);
                                                  }));
                                  }));
                  }));
}

void ZooKeeperStore::Judge(const std::string& head, int32_t epoch) {
  if (epoch != fence_) return Over({CommitFailure::kFenced, "another process has led since"});
  const base::Result<Head> found = base::DecodeStored<Head>(head);
  if (found.ok() && found->version == batch_->head.version) return Committed();
  ++batch_->tries;
  if (batch_->tries >= kTriesMax && batch_->bytes > kSurelyTaken) return TooLong();
  Send();
}

void ZooKeeperStore::LookAgain(Rc rc) {
  if (rc != Rc::kLost) {
    return Over({CommitFailure::kGone, rc == Rc::kExpired ? "the session with ZooKeeper has ended"
                                                          : "ZooKeeper does not give " + layout_.Head() + " any more"});
  }
  loop_.After(kRetry, alive_([this] { AfterLoss(); }));
}

// A server that is set to take less closes the connection without a word.
void ZooKeeperStore::TooLong() {
  const std::unique_ptr<Batch> batch = std::move(batch_);
  // Those that were written before; one that was and is not known to be is found by the next leader.
  for (size_t i = 0; i < batch->next; ++i) leftovers_.push_back(batch->parts[i]);
  if (batch_bytes_max_ > kSurelyTaken) {
    batch_bytes_max_ /= 2;
    part_bytes_max_ = std::min(part_bytes_max_, batch_bytes_max_);
    for (auto commit = batch->commits.rbegin(); commit != batch->commits.rend(); ++commit) {
      queue_.push_front(std::move(*commit));
    }
    return Begin();
  }
  const env::CommitError error{CommitFailure::kRefused,
                               "ZooKeeper closed the connection at a write of " + std::to_string(batch->bytes) +
                                   " bytes, again and again: set jute.maxbuffer of its servers to 1 MiB or more"};
  for (const Waiting& commit : batch->commits) commit.done(error);
  Begin();
}

void ZooKeeperStore::Committed() {
  const std::unique_ptr<Batch> batch = std::move(batch_);
  for (const auto& [id, place] : batch->places) {
    if (place) {
      places_[id] = *place;
    } else {
      places_.erase(id);
    }
  }
  laid_open_ = false;
  Begin();  // on its way while the answers are used
  RemoveLeftovers();
  const env::Alive::Watch alive = alive_.watch();
  for (const Waiting& commit : batch->commits) {
    if (alive) commit.done({});
  }
}

void ZooKeeperStore::RemoveLeftovers() {
  if (removing_ || leftovers_.empty()) return;
  removing_ = true;
  const std::string name = std::move(leftovers_.back());
  leftovers_.pop_back();
  session_->Multi({Check(), {Op::Kind::kDelete, layout_.Row(name), ""}},
                  alive_([this](const Session::MultiAnswer& answer) {
                    removing_ = false;
                    if (answer.rc != Rc::kLost && answer.rc != Rc::kExpired) RemoveLeftovers();
                  }));
}

void ZooKeeperStore::Over(const env::CommitError& error) {
  over_ = error;
  std::vector<Waiting> unanswered = std::move(batch_->commits);
  batch_.reset();
  std::move(queue_.begin(), queue_.end(), std::back_inserter(unanswered));
  queue_.clear();
  const env::Alive::Watch alive = alive_.watch();
  loop_.Post(alive_([error, lost = lost_] { lost(error); }));
  for (const Waiting& commit : unanswered) {
    if (alive) commit.done(error);
  }
}

}  // namespace fairlead::env_zookeeper
