#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "env/alive.h"
#include "env/loop.h"
#include "env/net.h"
#include "process/spark_worker/supervision.h"
#include "process/spark_worker/supervisor.h"

// How a worker and its supervisor, processes of one user on one host, speak: frames of a length (four bytes, big
// endian) and one of the messages below as base/stored.h writes it, so that a worker of a later release takes up what
// an earlier one has left.

namespace fairlead::process::spark_worker {

// ---- of the worker

/// First of all. `purpose` is what tells this worker from others of the same work directory: only one that was told the
/// same serves it.
struct LinkHello {
  std::string purpose;
  std::string address;  // where the watched port listens
  std::string secret;
  bool crypto = false;
  int32_t version = 0;
  int32_t cipher = 0;
  bool sasl_fallback = true;
  bool encrypt_sasl = false;
  bool always_encrypt = false;
  FL_FIELDS(purpose, address, secret, crypto, version, cipher, sasl_fallback, encrypt_sasl, always_encrypt)
};
struct LinkEnd {
  std::string key;
  FL_FIELDS(key)
};
struct LinkForget {
  std::string key;
  FL_FIELDS(key)
};
struct LinkKeepFor {
  int64_t absence_ms = 0;
  FL_FIELDS(absence_ms)
};
struct LinkQuit {
  FL_NO_FIELDS()
};
using ToSupervisor = std::variant<LinkHello, WorkerIdentity, RunOrder, LinkEnd, LinkForget, LinkKeepFor, LinkQuit>;

// ---- of the supervisor

struct LinkWelcome {
  WorkerIdentity identity;
  int32_t watched_port = 0;
  std::vector<SupervisedRun> runs;
  std::string watched_name = "Worker";  // as the supervisors of earlier releases have it
  FL_FIELDS(identity, watched_port, runs, watched_name)
};
/// It serves another worker.
struct LinkRefused {
  std::string why;
  FL_FIELDS(why)
};
struct LinkStarted {
  std::string key;
  int64_t pid = 0;
  FL_FIELDS(key, pid)
};
struct LinkFailed {
  std::string key;
  std::string why;
  FL_FIELDS(key, why)
};
struct LinkEnded {
  std::string key;
  int32_t code = 0;
  std::string note;
  FL_FIELDS(key, code, note)
};
using ToWorker = std::variant<LinkWelcome, LinkRefused, LinkStarted, LinkFailed, LinkEnded>;

LinkHello HelloOf(const std::string& purpose, const std::string& address, const spark_rpc::Security& security);
spark_rpc::Security SecurityOf(const LinkHello& hello);

/// Frames over one stream.
class FrameStream final : private env::StreamHandler {
 public:
  static constexpr size_t kFrameBytesMax = size_t{64} << 20;
  /// `on_frame` and `on_closed` are not called from inside a call to this object, but it may be destroyed in them.
  FrameStream(std::unique_ptr<env::Stream> stream, std::function<void(std::string_view frame)> on_frame,
              std::function<void(const std::string& reason)> on_closed);
  ~FrameStream() override = default;
  void Write(const std::string& frame);

 private:
  void OnData(std::string_view bytes) override;
  void OnClosed(const std::string& reason) override;
  std::unique_ptr<env::Stream> stream_;
  const std::function<void(std::string_view)> on_frame_;
  const std::function<void(const std::string&)> on_closed_;
  std::string buffer_;
  env::Alive alive_;
};

/// A supervisor's side: one worker at a time.
class SupervisorServer {
 public:
  explicit SupervisorServer(const Supervisor::World& world) : world_(world) {}
  void Take(std::unique_ptr<env::Stream> stream);
  /// A worker has been here.
  bool serves() const { return supervisor_ != nullptr; }
  /// Called when there is nothing to supervise any more.
  std::function<void()> on_over;

 private:
  struct Visitor {
    std::unique_ptr<FrameStream> stream;
    bool welcome = false;
  };
  void OnFrame(uint64_t id, std::string_view frame);
  void OnClosed(uint64_t id);
  void OnHello(uint64_t id, const LinkHello& hello);
  void Follow(ToSupervisor order);
  void Say(uint64_t id, const ToWorker& message);

  const Supervisor::World world_;
  std::string purpose_;
  std::unique_ptr<Supervisor> supervisor_;
  std::map<uint64_t, Visitor> visitors_;
  uint64_t last_visitor_ = 0;
};

/// A worker's side.
class SupervisorLink final : public Supervision {
 public:
  /// `done` gets the supervisor's welcome, or why it does not serve this worker; once, in a later turn.
  SupervisorLink(std::unique_ptr<env::Stream> stream, const LinkHello& hello,
                 std::function<void(base::Result<LinkWelcome>)> done);
  /// The supervisor is gone, and with it all that ran: called after the welcome, also where it was told to quit.
  std::function<void(const std::string& why)> on_lost;

  void SetIdentity(const WorkerIdentity& identity) { Say(identity); }
  void Listen(Listener listener) override { listener_ = std::move(listener); }
  void Start(RunOrder order) override { Say(std::move(order)); }
  void End(const std::string& key) override { Say(LinkEnd{key}); }
  void Forget(const std::string& key) override { Say(LinkForget{key}); }
  void KeepFor(base::Duration absence) override { Say(LinkKeepFor{absence.millis()}); }
  void Quit() override { Say(LinkQuit{}); }

 private:
  void Say(const ToSupervisor& message);
  void OnFrame(std::string_view frame);
  void OnClosed(const std::string& reason);

  std::function<void(base::Result<LinkWelcome>)> done_;  // null once called
  Listener listener_;
  FrameStream stream_;
};

}  // namespace fairlead::process::spark_worker
