#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <list>
#include <memory>
#include <string>

#include "env_posix/sockets_internal.h"

namespace fairlead::env_posix {

/// Bytes or a range of a file waiting to be sent.
struct Piece {
  std::string bytes;
  std::shared_ptr<env::File> file;
  uint64_t offset = 0;
  uint64_t left = 0;                  // of the file, or of `bytes` counted from `offset`
  std::shared_ptr<env::File> passed;  // goes along with the first of `bytes` (local sockets)
};

/// A socket with its queue; kept alive by pending operations after its Stream is gone.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  struct Ends {
    env::Endpoint peer;
    env::Endpoint local;
  };
  /// Of a local socket only who connected takes files: what a stranger sends to a listener the kernel throws away.
  enum class Kind : uint8_t { kTcp, kLocalAccepted, kLocalConnected };
  Connection(SocketHost& host, Socket socket, Ends ends, Kind kind);
  ~Connection();

  void Start(env::StreamHandler* handler);
  void Enqueue(Piece piece);
  void SetHighWater(size_t bytes);
  void SetPaused(bool paused);
  void CloseAfterFlush();
  void Close();
  /// The Stream object is gone; what CloseAfterFlush promised still goes out.
  void Abandon();

  size_t unsent() const { return unsent_; }
  size_t unsent_files() const { return unsent_files_; }
  std::shared_ptr<env::File> TakeFile();
  const env::Endpoint& peer() const { return ends_.peer; }
  const env::Endpoint& local() const { return ends_.local; }
  uint32_t peer_user();
  /// The same socket on another host; nothing has been asked of this one, and it is closed now.
  std::shared_ptr<Connection> MoveTo(SocketHost& host);

 private:
  void WaitReadable();
  void OnReadable(const boost::system::error_code& error);
  ssize_t Receive(char* buffer, size_t size);
  ssize_t ReceiveWithFiles(char* buffer, size_t size);
  void ScheduleFlush();
  void Flush();
  void FinishClose();
  void Linger();
  void AwaitLinger();
  void EndLinger();
  ssize_t SendBytes();
  ssize_t SendFilePiece();
  /// Into the shared buffer, from `at`.
  base::Result<size_t> ReadPiece(const Piece& piece, size_t at);
  void Advance(uint64_t sent);
  void WaitWritable();
  void Break(const std::string& reason);

  /// Between CloseAfterFlush and the last byte.
  struct Lingering {
    boost::asio::steady_timer timer;
    std::list<Connection*>::iterator place;
    size_t bytes = 0;            // in memory
    uint64_t unsent_before = 0;  // when it was last looked at
  };

  SocketHost& host_;
  Socket socket_;
  const Ends ends_;
  const Kind kind_;
  env::StreamHandler* handler_ = nullptr;
  // Lists: an idle connection is to hold no memory for them, and a deque never gives back its first block.
  std::list<Piece> queue_;
  std::list<std::shared_ptr<env::File>> received_files_;
  uint64_t unsent_ = 0;
  size_t unsent_files_ = 0;
  std::unique_ptr<Lingering> lingering_;
  uint64_t high_water_ = 1 << 20;  // unsent_ above this is a full queue; OnDrained comes at half of it
  bool above_high_water_ = false;
  bool reading_ = false;
  bool paused_ = false;
  bool flush_scheduled_ = false;
  bool waiting_writable_ = false;
  bool closing_ = false;
  bool closed_ = false;
};

/// A Stream of the port (env::Stream or env::LocalStream) on a Connection.
template <class Port>
class StreamOn : public Port {
 public:
  explicit StreamOn(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}
  ~StreamOn() override { connection_->Abandon(); }
  void Start(env::StreamHandler* handler) override { connection_->Start(handler); }
  void Write(std::string bytes) override {
    const uint64_t size = bytes.size();
    if (size > 0) connection_->Enqueue({std::move(bytes), nullptr, 0, size, nullptr});
  }
  void SendFile(std::shared_ptr<env::File> file, uint64_t offset, uint64_t length) override {
    if (length > 0) connection_->Enqueue({{}, std::move(file), offset, length, nullptr});
  }
  size_t unsent() const override { return connection_->unsent(); }
  void SetHighWater(size_t bytes) override { connection_->SetHighWater(bytes); }
  void PauseReading() override { connection_->SetPaused(true); }
  void ResumeReading() override { connection_->SetPaused(false); }
  void CloseAfterFlush() override { connection_->CloseAfterFlush(); }
  void Close() override { connection_->Close(); }
  env::Endpoint peer() const override { return connection_->peer(); }
  env::Endpoint local() const override { return connection_->local(); }
  std::unique_ptr<Port> MoveTo(SocketHost& host) { return std::make_unique<StreamOn>(connection_->MoveTo(host)); }

 protected:
  std::shared_ptr<Connection> connection_;
};

}  // namespace fairlead::env_posix
