#include "engine/run/local.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>

#include "engine/io/files.h"
#include "engine/records/errors.h"

namespace fairlead::engine {

namespace {

int64_t HalfOfMemory() { return static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGE_SIZE) / 2; }

std::string LocalName() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return "local-" + std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(now).count()) + "-" +
         std::to_string(::getpid());
}

}  // namespace

struct Local::Link : process::driver::ExecutorLink {
  Link(Executor& to, Outbox& back) : executor(to), outbox(back) {}
  void Send(const wire::engine::Message& message) override {
    if (std::holds_alternative<wire::engine::Launch>(message)) outbox.ExpectStarts();
    executor.OnMessage(message);
  }
  Executor& executor;
  Outbox& outbox;
};

Local::Local(const LocalOptions& options) {
  const std::string name = LocalName();
  const char* const temp = std::getenv("TMPDIR");
  directory_ = (!options.directory.empty() ? options.directory : temp != nullptr ? temp : "/tmp") + "/fairlead-" + name;
  MakeDirectories(directory_, 0700);
  session_ = std::make_unique<DriverSession>(name, options.slots, options.tasks);
  ExecutorOptions executor;
  executor.slots = options.slots;
  executor.memory_bytes = options.memory_bytes > 0 ? options.memory_bytes : HalfOfMemory();
  executor.local_directories = {directory_ + "/blockmgr"};
  executor.scratch_directory = directory_ + "/scratch";
  outbox_ = std::make_shared<Outbox>(session_->loop(), [this](wire::engine::Message message) {
    session_->driver().OnMessage(model::tasks::ExecutorIndex{0}, std::move(message));
  });
  const auto send = [outbox = outbox_](wire::engine::Message message, bool more) {
    outbox->Send(std::move(message), more);
  };
  executor_ = std::make_unique<Executor>(std::move(executor), send, nullptr);
  link_ = std::make_unique<Link>(*executor_, *outbox_);
  session_->OnLoop([&] {
    log_ = std::make_unique<EventLog>(session_->loop(), session_->driver(), options.event_log, name,
                                      program_invocation_short_name);
    session_->driver().AddListener(log_.get());
    process::driver::ExecutorInfo info;
    info.id = "0";
    info.host = "localhost";
    info.slots = options.slots;
    executor_->set_index(session_->driver().AddExecutor(info, link_.get()).value);
    if (::isatty(STDERR_FILENO) != 0) {
      progress_ = std::make_unique<Progress>(session_->loop(), session_->driver(), stderr, true);
      session_->driver().AddListener(progress_.get());
    }
  });
}

void Local::End(const std::string& error, bool killed) {
  session_->OnLoop([&] {
    if (progress_) progress_->Last();
    std::fputs(log_->End(error, killed).c_str(), stderr);
  });
}

Local::~Local() {
  session_->OnLoop([this] {
    outbox_->Close();
    if (progress_) progress_->Last();
  });
  session_->Stop();
  executor_.reset();
  progress_.reset();
  log_.reset();
  session_.reset();
  RemoveFiles();
}

void Local::RemoveFiles() const { RemoveAll(directory_); }

}  // namespace fairlead::engine
