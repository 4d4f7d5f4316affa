#include "process/spark_master/store_writer.h"

#include <utility>

#include "process/spark_master/standalone_store.h"

namespace fairlead::process::spark_master {

namespace {

constexpr base::Duration kRetry = base::Duration::Seconds(1);
constexpr base::Duration kProbeEvery = base::Duration::Seconds(10);

}  // namespace

void StoreWriter::Commit(std::vector<env::Row> rows, std::function<void()> stored) {
  tried_ = loop_.Now();
  store_->Commit(rows, alive_([this, rows, stored = std::move(stored)](const env::CommitStatus& status) {
                   error_ = status.ok() ? "" : status.error().message;
                   if (status.ok()) return stored();
                   if (status.error().kind != env::CommitFailure::kRefused) return Lost(status.error());
                   log_.Error("the state cannot be stored, and nothing is promised until it can", {{"why", error_}});
                   loop_.After(kRetry, alive_([this, rows, stored] { Commit(rows, stored); }));
                 }));
}

base::Status StoreWriter::LoadSetAside() {
  auto rows = spark_master::LoadSetAside(*store_);
  if (!rows) return rows.error();
  set_aside_ = std::move(*rows);
  return {};
}

void StoreWriter::Probe() {
  if (store_ == nullptr || loop_.Now() - tried_ < (error_.empty() ? kProbeEvery : kRetry)) return;
  tried_ = loop_.Now();
  store_->Commit({{kStandaloneProbe, "written", std::to_string(loop_.Wall().ms)}},
                 alive_([this](const env::CommitStatus& status) {
                   if (!status.ok() && status.error().kind != env::CommitFailure::kRefused) return Lost(status.error());
                   if (!status.ok() && error_.empty()) {
                     log_.Error("the state cannot be stored", {{"why", status.error().message}});
                   }
                   error_ = status.ok() ? "" : status.error().message;
                 }));
}

/// What was asked is not answered: nobody knows, or another master does.
void StoreWriter::Lost(const env::CommitError& error) {
  log_.Error("the state cannot be stored any more, and nothing more is decided", {{"why", error.message}});
  error_ = error.message;
  if (on_lost_) on_lost_(error.message);
}

}  // namespace fairlead::process::spark_master
