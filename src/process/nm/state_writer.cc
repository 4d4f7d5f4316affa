#include "process/nm/state_writer.h"

namespace fairlead::process::nm {

namespace {
constexpr base::Duration kRetry = base::Duration::Seconds(1);
}  // namespace

StateWriter::~StateWriter() = default;

uint64_t StateWriter::Begin(const std::vector<env::Row>& rows) {
  ++writes_;
  for (const env::Row& row : rows) latest_[{row.table, row.key}] = writes_;
  return writes_;
}

void StateWriter::Keep(std::vector<env::Row> rows, std::function<void()> stored) {
  std::vector<env::Row> all;
  for (auto& [key, value] : std::exchange(refused_, {})) all.push_back({key.first, key.second, std::move(value)});
  // Later rows of a commit win over earlier ones.
  all.insert(all.end(), std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
  const uint64_t number = Begin(all);
  if (stored) waiting_.emplace_back(number, std::move(stored));
  store_.Commit(all, alive_([this, number, all](const env::CommitStatus& status) { Kept(number, all, status); }));
}

void StateWriter::Kept(uint64_t number, const std::vector<env::Row>& rows, const env::CommitStatus& status) {
  if (!status.ok() && status.error().kind != env::CommitFailure::kRefused) return TellLost(status.error().message);
  for (const env::Row& row : rows) {
    const auto latest = latest_.find({row.table, row.key});
    if (latest == latest_.end() || latest->second != number) continue;  // a newer one is under way
    if (status.ok()) {
      latest_.erase(latest);
    } else {
      refused_[latest->first] = row.value;
    }
  }
  if (!status.ok()) {
    log_.Error("state is not stored and will be tried again", {{"why", status.error().message}});
    if (!retry_.waits()) {
      retry_.After(kRetry, [this] {
        if (!refused_.empty() || !waiting_.empty()) Keep({});
      });
    }
    return;
  }
  if (!refused_.empty()) return;
  std::vector<std::function<void()>> done;
  std::erase_if(waiting_, [&](auto& entry) {
    if (entry.first > number) return false;
    done.push_back(std::move(entry.second));
    return true;
  });
  const env::Alive::Watch alive = alive_.watch();
  for (const auto& stored : done) {
    stored();
    if (!alive) return;
  }
}

void StateWriter::TellLost(const std::string& why) {
  if (on_lost_) std::exchange(on_lost_, nullptr)(why);
}

void StateWriter::Try(std::vector<env::Row> rows, std::function<void(env::CommitStatus)> done) {
  if (!refused_.empty()) Keep({});  // older ones of the same keys come first
  const uint64_t number = Begin(rows);
  store_.Commit(rows, alive_([this, number, rows, done = std::move(done)](const env::CommitStatus& status) {
                  if (!status.ok() && status.error().kind != env::CommitFailure::kRefused)
                    return TellLost(status.error().message);
                  for (const env::Row& row : rows) {
                    const auto latest = latest_.find({row.table, row.key});
                    if (latest != latest_.end() && latest->second == number) latest_.erase(latest);
                  }
                  done(status);
                }));
}

}  // namespace fairlead::process::nm
