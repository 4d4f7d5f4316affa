#include "process/spark_worker/supervisor_link.h"

#include <utility>

#include "base/bytes.h"
#include "base/dispatch.h"
#include "base/stored.h"

namespace fairlead::process::spark_worker {

namespace {

/// Between a Worker and its supervisor: of the same user, and known by the socket's credentials.
constexpr base::BudgetKind kFrameKind =
    base::DecodedKind("a frame between Worker and supervisor", FrameStream::kFrameBytesMax, 256);

/// A variant is no struct of its own in the stored form.
struct Outgoing {
  ToSupervisor message;
  FL_FIELDS(message)
};
struct Incoming {
  ToWorker message;
  FL_FIELDS(message)
};

}  // namespace

LinkHello HelloOf(const std::string& purpose, const std::string& address, const spark_rpc::Security& security) {
  return {purpose,
          address,
          security.secret,
          security.crypto,
          static_cast<int32_t>(security.version),
          static_cast<int32_t>(security.cipher),
          security.sasl_fallback,
          security.encrypt_sasl,
          security.always_encrypt};
}

spark_rpc::Security SecurityOf(const LinkHello& hello) {
  spark_rpc::Security security;
  security.secret = hello.secret;
  security.crypto = hello.crypto;
  security.version = static_cast<wire::spark_transport::AuthVersion>(hello.version);
  security.cipher = static_cast<wire::spark_transport::AuthCipher>(hello.cipher);
  security.sasl_fallback = hello.sasl_fallback;
  security.encrypt_sasl = hello.encrypt_sasl;
  security.always_encrypt = hello.always_encrypt;
  return security;
}

// ---- frames --------------------------------------------------------------------------------------------------------

FrameStream::FrameStream(std::unique_ptr<env::Stream> stream, std::function<void(std::string_view)> on_frame,
                         std::function<void(const std::string&)> on_closed)
    : stream_(std::move(stream)), on_frame_(std::move(on_frame)), on_closed_(std::move(on_closed)) {
  stream_->Start(this);
}

void FrameStream::Write(const std::string& frame) {
  std::string bytes;
  base::ByteWriter(bytes).U32(static_cast<uint32_t>(frame.size()));
  stream_->Write(bytes + frame);
}

void FrameStream::OnData(std::string_view bytes) {
  buffer_.append(bytes);
  const env::Alive::Watch alive = alive_.watch();
  constexpr size_t kHead = 4;
  size_t at = 0;
  while (buffer_.size() - at >= kHead) {
    const auto size = base::BigEndian<uint32_t>(std::string_view(buffer_).substr(at));
    if (size > kFrameBytesMax) {
      stream_->Close();
      return on_closed_("a frame of " + std::to_string(size) + " bytes");
    }
    if (buffer_.size() - at - kHead < size) break;
    const std::string frame = buffer_.substr(at + kHead, size);
    at += kHead + size;
    on_frame_(frame);
    if (!alive) return;
  }
  buffer_.erase(0, at);
}

void FrameStream::OnClosed(const std::string& reason) { on_closed_(reason); }

// ---- the supervisor's side -----------------------------------------------------------------------------------------

void SupervisorServer::Take(std::unique_ptr<env::Stream> stream) {
  const uint64_t id = ++last_visitor_;
  visitors_[id].stream = std::make_unique<FrameStream>(
      std::move(stream), [this, id](std::string_view frame) { OnFrame(id, frame); },
      [this, id](const std::string&) { OnClosed(id); });
}

void SupervisorServer::Say(uint64_t id, const ToWorker& message) {
  const auto found = visitors_.find(id);
  if (found != visitors_.end()) found->second.stream->Write(base::EncodeStored(Incoming{message}));
}

void SupervisorServer::OnFrame(uint64_t id, std::string_view frame) {
  auto order = base::DecodeStored<Outgoing>(frame, kFrameKind);
  if (!order.ok()) {
    world_.log.Error("a worker says what is not understood", {{"why", order.error().message}});
    return Say(id, LinkRefused{order.error().message});
  }
  if (const auto* hello = std::get_if<LinkHello>(&order->message)) return OnHello(id, *hello);
  if (visitors_.at(id).welcome) Follow(std::move(order->message));
}

void SupervisorServer::OnHello(uint64_t id, const LinkHello& hello) {
  if (supervisor_ != nullptr && supervisor_->has_worker()) return Say(id, LinkRefused{"it serves another worker"});
  if (supervisor_ != nullptr && purpose_ != hello.purpose) {
    return Say(id, LinkRefused{"it serves a worker of another purpose"});
  }
  if (supervisor_ == nullptr) {
    auto started = Supervisor::Start(world_, hello.address, SecurityOf(hello), [this] { on_over(); });
    if (!started.ok()) return Say(id, LinkRefused{started.error().message});
    supervisor_ = std::move(*started);
    purpose_ = hello.purpose;
  }
  visitors_.at(id).welcome = true;
  supervisor_->Attach();
  Say(id, LinkWelcome{supervisor_->identity(), supervisor_->watched_port(), supervisor_->Runs(),
                      supervisor_->watched_name()});
  supervisor_->Listen({[this, id](const std::string& key, int64_t pid) {
                         Say(id, LinkStarted{key, pid});
                       },
                       [this, id](const std::string& key, const std::string& why) {
                         Say(id, LinkFailed{key, why});
                       },
                       [this, id](const std::string& key, int32_t code, const std::string& note) {
                         Say(id, LinkEnded{key, code, note});
                       }});
}

void SupervisorServer::Follow(ToSupervisor order) {
  base::Dispatch(
      order, [&](WorkerIdentity& identity) { supervisor_->SetIdentity(std::move(identity)); },
      [&](RunOrder& run) { supervisor_->Start(std::move(run)); },
      [&](const LinkEnd& end) { supervisor_->End(end.key); },
      [&](const LinkForget& forget) { supervisor_->Forget(forget.key); },
      [&](const LinkKeepFor& keep) { supervisor_->KeepFor(base::Duration::Millis(keep.absence_ms)); },
      [&](const LinkQuit&) { supervisor_->Quit(); }, base::Ignored<LinkHello>{});  // the first message
}

void SupervisorServer::OnClosed(uint64_t id) {
  auto gone = std::make_shared<Visitor>(std::move(visitors_.extract(id).mapped()));
  world_.loop.Post([gone] { gone->stream.reset(); });
  if (gone->welcome) supervisor_->Detach();
}

// ---- the worker's side ---------------------------------------------------------------------------------------------

SupervisorLink::SupervisorLink(std::unique_ptr<env::Stream> stream, const LinkHello& hello,
                               std::function<void(base::Result<LinkWelcome>)> done)
    : done_(std::move(done)),
      stream_(
          std::move(stream), [this](std::string_view frame) { OnFrame(frame); },
          [this](const std::string& reason) { OnClosed(reason); }) {
  Say(hello);
}

void SupervisorLink::Say(const ToSupervisor& message) { stream_.Write(base::EncodeStored(Outgoing{message})); }

void SupervisorLink::OnFrame(std::string_view frame) {
  const auto said = base::DecodeStored<Incoming>(frame, kFrameKind);
  if (!said.ok()) return OnClosed(said.error().message);
  base::Dispatch(
      said->message,
      [&](const LinkWelcome& welcome) {
        if (done_) std::exchange(done_, nullptr)(welcome);
      },
      [&](const LinkRefused& refused) {
        if (done_) std::exchange(done_, nullptr)(base::Error{refused.why});
      },
      [&](const LinkStarted& started) {
        if (listener_.on_started) listener_.on_started(started.key, started.pid);
      },
      [&](const LinkFailed& failed) {
        if (listener_.on_failed) listener_.on_failed(failed.key, failed.why);
      },
      [&](const LinkEnded& ended) {
        if (listener_.on_ended) listener_.on_ended(ended.key, ended.code, ended.note);
      });
}

void SupervisorLink::OnClosed(const std::string& reason) {
  const std::string why = reason.empty() ? "it has ended" : reason;
  if (done_) return std::exchange(done_, nullptr)(base::Error{why});
  if (on_lost) on_lost(why);
}

}  // namespace fairlead::process::spark_worker
