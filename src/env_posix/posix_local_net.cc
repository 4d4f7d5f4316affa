#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>

#include "env_posix/acceptor_internal.h"
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

}  // namespace

base::Result<std::unique_ptr<env::Listener>> ListenOnName(SocketHost& host, const std::string& name,
                                                          env::LocalNet::LocalAcceptHandler on_accept) {
  if (name.size() > kNameMax) return base::Error{"too long for a local name: " + name, ENAMETOOLONG};
  Local::acceptor acceptor(host.context);
  error_code error;
  acceptor.open({}, error);
  if (!error) acceptor.bind(Abstract(name), error);
  if (!error) acceptor.listen(1024, error);
  if (error) return base::Error{"cannot listen on local name " + name + ": " + error.message(), error.value()};
  return AcceptFrom<Local>(host, std::move(acceptor), {name, 0},
                           [&host, name, on_accept = std::move(on_accept)](Local::socket socket) {
                             on_accept(MakeStream(host, std::move(socket), name, Connection::Kind::kLocalAccepted));
                           });
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
