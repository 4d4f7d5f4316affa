#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "endpoints/spark/driver_messages.h"
#include "endpoints/spark/rpc_message.h"
#include "endpoints/spark/spark_build.h"
#include "process/spark_rpc/guest.h"

// Where the executors of drivers' applications come from.

namespace fairlead::process::spark_master {

/// One driver's application, from its registration to its end.
class Application {
 public:
  struct Callbacks {
    /// It is taken, and this is stored: id() is set.
    std::function<void()> on_accepted;
    /// A message for the driver.
    std::function<void(const std::string& content)> tell;
    /// There is nothing more to do; the application may be destroyed in a later turn.
    std::function<void()> on_over;
    /// Of the driver's connection; empty for one that an earlier life of this process stored.
    std::string address;
  };
  virtual ~Application() = default;

  virtual void Start() = 0;
  /// Instead of Start: goes on with what an earlier life of this process stored under id().
  virtual void Resume() = 0;
  /// After Resume: the driver says that it knows of this master.
  virtual void OnAcknowledged() {}
  /// `done` gets the answer for the driver, once what was asked for is stored.
  virtual void RequestExecutors(const endpoints::spark::RequestExecutors& request, std::function<void(bool)> done) = 0;
  virtual void KillExecutors(const endpoints::spark::KillExecutors& request, std::function<void(bool)> done) = 0;
  /// The driver has nothing more to do (`reason` empty), or is gone.
  virtual void End(const std::string& reason) = 0;

  /// Empty until there is one.
  virtual const std::string& id() const = 0;
  virtual bool accepted() const = 0;
  virtual bool ending() const = 0;
  virtual const endpoints::spark::SparkBuild& build() const = 0;
  virtual const endpoints::spark::RegisterApplication& registration() const = 0;
};

/// The connections of those who are no drivers.
class Peers {
 public:
  using PeerId = uint64_t;
  virtual ~Peers() = default;
  /// Whether this process may still decide and speak as the master. One of several that may not steps down.
  virtual bool MayAct() = 0;
  /// A one-way message; to one that is gone it is lost.
  virtual void Send(PeerId peer, const endpoints::spark::RpcAddress& receiver, const std::string& endpoint,
                    const std::string& content) = 0;
  virtual void Reply(PeerId peer, int64_t request, const std::string& content) = 0;
  virtual void Refuse(PeerId peer, int64_t request, const std::string& why) = 0;
  virtual void Close(PeerId peer, const std::string& reason) = 0;
  /// The address from which a peer has connected; empty: it is gone.
  virtual std::string AddressOf(PeerId peer) const = 0;
  /// It belongs here from now on, and so many bytes are remembered of it. False: that is too much of its address, and
  /// its connection is closed.
  virtual bool Keep(PeerId peer, size_t bytes) = 0;
  /// It may stay as long as there is room.
  virtual void Know(PeerId peer) = 0;
  /// As Close, and counts why.
  virtual void CloseFor(spark_rpc::Refusal kind, PeerId peer, const std::string& reason) = 0;
  /// `done` once it has answered, in whatever way; not at all when its connection ends first.
  virtual void Ask(PeerId peer, const endpoints::spark::RpcAddress& receiver, const std::string& endpoint,
                   const std::string& content, std::function<void()> done) = 0;
  virtual spark_rpc::Refusals& refusals() = 0;
  /// Connects to where a peer listens; `done` gets its connection, or nothing.
  virtual void Connect(const endpoints::spark::RpcAddress& address,
                       std::function<void(std::optional<PeerId> peer)> done) = 0;
};

class ExecutorSource {
 public:
  virtual ~ExecutorSource() = default;

  /// What a source may use of the master, for as long as both live.
  struct Master {
    Peers* peers = nullptr;
    endpoints::spark::RpcAddress address;  // as everybody knows it
  };
  /// Called once, before all else.
  virtual void Attach(const Master& master) = 0;

  /// Null: this is no time for applications, and the driver gets no answer.
  virtual std::unique_ptr<Application> Make(const endpoints::spark::SparkBuild& build,
                                            endpoints::spark::RegisterApplication registration,
                                            Application::Callbacks callbacks) = 0;

  /// An application that an earlier life of this process stored.
  struct Stored {
    std::string id;
    std::string registration;  // the driver's message, an object stream
  };
  virtual base::Result<std::vector<Stored>> Load() = 0;
  virtual std::unique_ptr<Application> MakeStored(const std::string& id, const endpoints::spark::SparkBuild& build,
                                                  endpoints::spark::RegisterApplication registration,
                                                  Application::Callbacks callbacks) = 0;
  /// A stored application that cannot be gone on with.
  virtual void Forget(const std::string& id) = 0;
  /// One that cannot be read: it is kept under another name, and told of.
  virtual void SetAside(const std::string& id, const std::string& why) = 0;
  /// Called once, when all that was stored is made or forgotten.
  virtual void OnLoaded() {}

  /// A member asks whether there is an endpoint beside the master's own.
  virtual bool HasEndpoint(Peers::PeerId peer, const std::string& name) = 0;
  /// A message that is no driver's. False: it is nothing of this source's.
  virtual bool OnMessage(Peers::PeerId peer, spark_rpc::Incoming& message) = 0;
  /// Said of every connection.
  virtual void OnClosed(Peers::PeerId peer, const std::string& reason) = 0;
};

}  // namespace fairlead::process::spark_master
