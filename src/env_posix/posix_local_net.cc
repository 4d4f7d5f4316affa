#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>

#include "env_posix/acceptor_internal.h"
#include "env_posix/connection_internal.h"

namespace fairlead::env_posix {
namespace {

namespace asio = boost::asio;
using Local = asio::local::stream_protocol;
using boost::system::error_code;

/// Of names of the kernel. A path may be as long as paths are.
constexpr size_t kNameMax = 100;

/// Where a name is met. A path is taken by its directory's descriptor: a socket's address has room for some hundred
/// bytes only.
class Place {
 public:
  explicit Place(const std::string& name) {
    if (!name.starts_with('/')) {
      if (name.size() > kNameMax) error_.assign(ENAMETOOLONG, boost::system::system_category());
      endpoint_ = error_ ? Local::endpoint() : Local::endpoint(std::string(1, '\0') + name);
      return;
    }
    const size_t slash = name.rfind('/');
    base_ = name.substr(slash + 1);
    directory_ = ::open(name.substr(0, slash + 1).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory_ < 0) error_.assign(errno, boost::system::system_category());
    if (base_.size() > kNameMax / 2) error_.assign(ENAMETOOLONG, boost::system::system_category());
    if (!error_) endpoint_ = Local::endpoint("/proc/self/fd/" + std::to_string(directory_) + "/" + base_);
  }
  ~Place() {
    if (directory_ >= 0) ::close(directory_);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  /// Why nobody can meet there.
  const error_code& error() const { return error_; }
  const Local::endpoint& endpoint() const { return endpoint_; }

  void Bind(Local::acceptor& acceptor, error_code& error) const {
    // Of two that find a socket of one that has ended, the second finds the first one's.
    if (directory_ >= 0) ::flock(directory_, LOCK_EX);
    acceptor.bind(endpoint_, error);
    if (directory_ < 0 || error != boost::system::errc::address_in_use || SomebodyListens(acceptor)) return;
    ::unlinkat(directory_, base_.c_str(), 0);
    acceptor.bind(endpoint_, error);
  }

 private:
  bool SomebodyListens(Local::acceptor& acceptor) const {
    Local::socket probe(acceptor.get_executor());
    error_code error;
    probe.open({}, error);
    if (!error) probe.non_blocking(true, error);
    if (!error) probe.connect(endpoint_, error);
    return error != boost::system::errc::connection_refused;
  }

  int directory_ = -1;  // of a path; locked until it is closed
  std::string base_;
  error_code error_;
  Local::endpoint endpoint_;
};

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
  const Place place(name);
  Local::acceptor acceptor(host.context);
  error_code error = place.error();
  if (!error) acceptor.open({}, error);
  if (!error) ::fcntl(acceptor.native_handle(), F_SETFD, FD_CLOEXEC);  // who outlives this process is not met there
  if (!error) place.Bind(acceptor, error);
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
    const Place place(name);
    error_code error = place.error();
    if (!error) socket.open({}, error);
    if (!error) socket.non_blocking(true, error);
    if (!error) socket.connect(place.endpoint(), error);
    if (error) return done(base::Error{"cannot connect to local name " + name + ": " + error.message(), error.value()});
    done(MakeStream(host, std::move(socket), name, Connection::Kind::kLocalConnected));
  });
}

}  // namespace fairlead::env_posix
