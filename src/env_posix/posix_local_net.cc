#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "env_posix/connection_internal.h"

namespace fairlead::env_posix {
namespace {

namespace asio = boost::asio;
using Local = asio::local::stream_protocol;
using boost::system::error_code;

/// A name that begins with a zero byte is the kernel's, not the file system's.
constexpr size_t kNameMax = 100;
Local::endpoint Abstract(const std::string& name) { return Local::endpoint(std::string(1, '\0') + name); }

class LocalStreamOn final : public StreamOn<env::LocalStream> {
 public:
  using StreamOn::StreamOn;
  void WriteWithFile(std::string bytes, std::shared_ptr<env::File> file) override {
    const uint64_t size = bytes.size();
    connection_->Enqueue({std::move(bytes), nullptr, 0, size, std::move(file)});
  }
  size_t unsent_files() const override { return connection_->unsent_files(); }
  std::shared_ptr<env::File> TakeFile() override { return connection_->TakeFile(); }
  uint32_t peer_user() const override { return connection_->peer_user(); }
};

std::unique_ptr<env::LocalStream> MakeStream(SocketHost& host, Local::socket socket, const std::string& name,
                                             Connection::Kind kind) {
  return std::make_unique<LocalStreamOn>(
      std::make_shared<Connection>(host, std::move(socket), Connection::Ends{{name, 0}, {name, 0}}, kind));
}

/// Accepts until its Listener is destroyed.
class LocalAcceptor : public std::enable_shared_from_this<LocalAcceptor> {
 public:
  LocalAcceptor(SocketHost& host, std::string name, env::LocalNet::LocalAcceptHandler on_accept)
      : host_(host),
        name_(std::move(name)),
        acceptor_(host.context),
        retry_(host.context),
        on_accept_(std::move(on_accept)) {}

  base::Status Open() {
    error_code error;
    acceptor_.open({}, error);
    if (!error) acceptor_.bind(Abstract(name_), error);
    if (!error) acceptor_.listen(1024, error);
    if (error) return base::Error{"cannot listen on local name " + name_ + ": " + error.message(), error.value()};
    Accept();
    return {};
  }

  void Stop() {
    stopped_ = true;
    error_code ignored;
    acceptor_.close(ignored);
    retry_.cancel();
  }

  const std::string& name() const { return name_; }

 private:
  void Accept() {
    acceptor_.async_accept([self = shared_from_this()](error_code error, Local::socket socket) {
      if (self->stopped_) return;
      self->host_.BeginTurn();
      if (error) return self->AcceptLater();
      self->on_accept_(MakeStream(self->host_, std::move(socket), self->name_, Connection::Kind::kLocalAccepted));
      if (!self->stopped_) self->Accept();
    });
  }

  /// Out of descriptors: waiting a little lets connections end instead of spinning.
  void AcceptLater() {
    retry_.expires_after(std::chrono::milliseconds(50));
    retry_.async_wait([self = shared_from_this()](error_code) {
      if (!self->stopped_) self->Accept();
    });
  }

  SocketHost& host_;
  const std::string name_;
  Local::acceptor acceptor_;
  asio::steady_timer retry_;
  env::LocalNet::LocalAcceptHandler on_accept_;
  bool stopped_ = false;
};

class LocalListener final : public env::Listener {
 public:
  explicit LocalListener(std::shared_ptr<LocalAcceptor> acceptor) : acceptor_(std::move(acceptor)) {}
  ~LocalListener() override { acceptor_->Stop(); }
  env::Endpoint local() const override { return {acceptor_->name(), 0}; }

 private:
  std::shared_ptr<LocalAcceptor> acceptor_;
};

}  // namespace

base::Result<std::unique_ptr<env::Listener>> ListenOnName(SocketHost& host, const std::string& name,
                                                          env::LocalNet::LocalAcceptHandler on_accept) {
  if (name.size() > kNameMax) return base::Error{"too long for a local name: " + name, ENAMETOOLONG};
  auto acceptor = std::make_shared<LocalAcceptor>(host, name, std::move(on_accept));
  if (const base::Status opened = acceptor->Open(); !opened.ok()) return opened.error();
  return std::unique_ptr<env::Listener>(std::make_unique<LocalListener>(std::move(acceptor)));
}

void ConnectToName(SocketHost& host, const std::string& name, env::LocalNet::LocalConnectHandler done) {
  asio::post(host.context, [&host, name, done = std::move(done)] {
    host.BeginTurn();
    // A connect within the host succeeds or fails at once; non-blocking, so that a full backlog is a failure.
    Local::socket socket(host.context);
    error_code error;
    if (name.size() > kNameMax) error = boost::system::errc::make_error_code(boost::system::errc::filename_too_long);
    if (!error) socket.open({}, error);
    if (!error) socket.non_blocking(true, error);
    if (!error) socket.connect(Abstract(name), error);
    if (error) return done(base::Error{"cannot connect to local name " + name + ": " + error.message(), error.value()});
    done(MakeStream(host, std::move(socket), name, Connection::Kind::kLocalConnected));
  });
}

}  // namespace fairlead::env_posix
