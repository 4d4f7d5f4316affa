#include "env_kerberos/step_thread.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace fairlead::env_kerberos {
namespace {

struct Step {
  StepThread::Work work;
  env::Loop::Callback refused;
};

}  // namespace

struct StepThread::Shared {
  explicit Shared(env::Loop* of) : loop(of) {}

  /// The next address' first.
  Step Take() {
    auto next = waiting.upper_bound(last);
    if (next == waiting.end()) next = waiting.begin();
    last = next->first;
    Step step = std::move(next->second.front());
    next->second.pop_front();
    if (next->second.empty()) waiting.erase(next);
    --count;
    return step;
  }
  /// The last one of the address with most.
  Step GiveUpOne() {
    const auto most = std::max_element(waiting.begin(), waiting.end(),
                                       [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    Step step = std::move(most->second.back());
    most->second.pop_back();
    if (most->second.empty()) waiting.erase(most);
    --count;
    return step;
  }
  static void Run(const std::shared_ptr<Shared>& shared) {
    std::unique_lock lock(shared->mutex);
    while (true) {
      shared->wake.wait(lock, [&] { return !shared->waiting.empty() || shared->loop == nullptr; });
      if (shared->loop == nullptr) return;
      Step step = shared->Take();
      lock.unlock();
      env::Loop::Callback done = step.work();
      step = {};
      lock.lock();
      if (shared->loop != nullptr) shared->loop->Post(std::move(done));
    }
  }

  std::mutex mutex;
  std::condition_variable wake;
  std::map<std::string, std::deque<Step>> waiting;  // by address; none is empty
  size_t count = 0;
  std::string last;  // whose turn it was
  env::Loop* loop;   // null: the owner is gone
};

StepThread::StepThread(env::Loop& loop) : shared_(std::make_shared<Shared>(&loop)) {}

StepThread::~StepThread() {
  const std::lock_guard lock(shared_->mutex);
  shared_->loop = nullptr;
  shared_->waiting.clear();
  shared_->wake.notify_one();
}

void StepThread::Do(const std::string& address, Work work, env::Loop::Callback refused) {
  const std::lock_guard lock(shared_->mutex);
  shared_->waiting[address].push_back({std::move(work), std::move(refused)});
  if (++shared_->count > kWaitingMost) shared_->loop->Post(shared_->GiveUpOne().refused);
  if (!std::exchange(begun_, true)) std::thread(&Shared::Run, shared_).detach();
  shared_->wake.notify_one();
}

}  // namespace fairlead::env_kerberos
