#pragma once

#include <deque>
#include <utility>

#include "env/loop.h"

namespace fairlead::process::rm {

/// A loop whose other threads work when they are told to.
class Workers : public env::Loop {
 public:
  explicit Workers(env::Loop& loop) : loop_(loop) {}
  base::Instant Now() const override { return loop_.Now() + ahead; }
  base::WallTime Wall() const override { return loop_.Wall(); }
  TimerId At(base::Instant when, Callback callback) override { return loop_.At(when, std::move(callback)); }
  void Cancel(TimerId timer) override { loop_.Cancel(timer); }
  void Post(Callback callback) override { loop_.Post(std::move(callback)); }
  void Offload(Callback work, Callback done) override { jobs.emplace_back(std::move(work), std::move(done)); }
  void RandomBytes(std::span<uint8_t> bytes) override { loop_.RandomBytes(bytes); }

  void WorkOne() {
    auto [work, done] = std::move(jobs.front());
    jobs.pop_front();
    work();
    done();
  }
  void WorkAll() {
    while (!jobs.empty()) WorkOne();
  }

  base::Duration ahead{};  // of the loop
  std::deque<std::pair<Callback, Callback>> jobs;

 private:
  env::Loop& loop_;
};

}  // namespace fairlead::process::rm
