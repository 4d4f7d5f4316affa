#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "env_posix/connection_internal.h"
#include "env_posix/posix_loop.h"

namespace fairlead::env_posix {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr size_t kSendFilePiece = 1 << 20;
/// Up to this the rest of a file's part is read and sent with its neighbours. sendfile() copies nothing, but hands
/// parts over one by one and page by page: over loopback that pays from 40 KiB on.
constexpr size_t kReadPieceMax = 32 * 1024;
constexpr size_t kBuffersPerWrite = 64;
/// The kernel's own limit of descriptors in one message (SCM_MAX_FD).
constexpr size_t kFilesPerMessage = 253;
/// A connection that only has to send its rest ends when its peer has taken nothing for this long, or longest among
/// those that hold more memory than this together.
constexpr std::chrono::seconds kLingerMax{20};
constexpr size_t kLingeringBytesMax = 8 << 20;

/// sendfile() has no MSG_NOSIGNAL: without this a reader that goes away ends the process. Blocked for the calling
/// thread rather than ignored, so that output into a closed pipe still ends a program. Children start with nothing
/// blocked (RunChild).
void BlockBrokenPipeSignal() {
  thread_local const bool blocked = [] {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    return ::pthread_sigmask(SIG_BLOCK, &signals, nullptr) == 0;
  }();
  static_cast<void>(blocked);
}

}  // namespace

Connection::Connection(SocketHost& host, Socket socket, Ends ends, Kind kind)
    : host_(host), socket_(std::move(socket)), ends_(std::move(ends)), kind_(kind) {
  error_code ignored;
  socket_.non_blocking(true, ignored);
  const int on = 1;
  if (kind_ == Kind::kTcp) ::setsockopt(socket_.native_handle(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ++host_.sockets;
}

Connection::~Connection() {
  if (!closed_) Close();
}

void Connection::Start(env::StreamHandler* handler) {
  handler_ = handler;
  WaitReadable();
}

void Connection::Enqueue(Piece piece) {
  if (closed_) return;
  unsent_ += piece.left;
  if (piece.passed) ++unsent_files_;
  if (unsent_ > high_water_) above_high_water_ = true;
  queue_.push_back(std::move(piece));
  ScheduleFlush();
}

void Connection::SetHighWater(size_t bytes) {
  high_water_ = bytes;
  if (unsent_ > high_water_) above_high_water_ = true;  // the owner waits for OnDrained from now on
}

void Connection::SetPaused(bool paused) {
  paused_ = paused;
  if (!paused) WaitReadable();
}

void Connection::CloseAfterFlush() {
  handler_ = nullptr;
  closing_ = true;
  ScheduleFlush();
  if (unsent_ > 0 && !lingering_) Linger();
}

void Connection::Linger() {
  lingering_ = std::make_unique<Lingering>(asio::steady_timer(host_.context));
  lingering_->place = host_.lingering.insert(host_.lingering.end(), this);
  for (Piece& piece : queue_) {
    if (piece.file) continue;
    // Only what is left is kept: else the rest of a large answer would count as all of it.
    if (piece.offset > piece.left) piece.bytes = piece.bytes.substr(std::exchange(piece.offset, 0), piece.left);
    lingering_->bytes += piece.bytes.size();
  }
  host_.lingering_bytes += lingering_->bytes;
  AwaitLinger();
  while (host_.lingering_bytes > kLingeringBytesMax && host_.lingering.front() != this)
    host_.lingering.front()->Close();
}

void Connection::AwaitLinger() {
  lingering_->unsent_before = unsent_;
  lingering_->timer.expires_after(kLingerMax);
  lingering_->timer.async_wait([weak = weak_from_this()](error_code error) {
    const std::shared_ptr<Connection> self = weak.lock();
    if (error || !self || !self->lingering_) return;
    self->host_.BeginTurn();
    if (self->unsent_ == self->lingering_->unsent_before) return self->Close();
    self->AwaitLinger();
  });
}

void Connection::EndLinger() {
  if (!lingering_) return;
  host_.lingering.erase(lingering_->place);
  host_.lingering_bytes -= lingering_->bytes;
  lingering_.reset();
}

void Connection::Close() {
  handler_ = nullptr;
  if (!std::exchange(closed_, true)) --host_.sockets;
  EndLinger();
  queue_.clear();
  received_files_.clear();
  unsent_ = 0;
  unsent_files_ = 0;
  error_code ignored;
  socket_.close(ignored);
}

void Connection::Abandon() {
  handler_ = nullptr;
  if (!closing_) Close();
}

std::shared_ptr<env::File> Connection::TakeFile() {
  if (received_files_.empty()) return nullptr;
  auto file = std::move(received_files_.front());
  received_files_.pop_front();
  return file;
}

uint32_t Connection::peer_user() {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  // If the kernel gives no credentials, the peer belongs to no user.
  if (::getsockopt(socket_.native_handle(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) < 0) return UINT32_MAX;
  return credentials.uid;
}

std::shared_ptr<Connection> Connection::MoveTo(SocketHost& host) {
  error_code error;
  const auto protocol = socket_.local_endpoint(error).protocol();
  Socket moved(host.context);
  moved.assign(protocol, socket_.release(error), error);  // a socket that is in order cannot fail here
  Close();
  return std::make_shared<Connection>(host, std::move(moved), ends_, kind_);
}

// ---- receiving -----------------------------------------------------------------------------------------------------

void Connection::WaitReadable() {
  if (reading_ || paused_ || closed_ || handler_ == nullptr) return;
  reading_ = true;
  socket_.async_wait(Socket::wait_read, [self = shared_from_this()](error_code error) {
    self->reading_ = false;
    self->host_.BeginTurn();
    self->OnReadable(error);
  });
}

void Connection::OnReadable(const error_code& error) {
  if (closed_ || handler_ == nullptr || paused_) return;
  if (error) return Break(error.message());
  std::vector<char>& buffer = host_.receive_buffer;
  const ssize_t n = Receive(buffer.data(), buffer.size());
  if (n > 0) {
    handler_->OnData({buffer.data(), static_cast<size_t>(n)});
  } else if (n == 0) {
    return Break("");
  } else if (errno != EAGAIN && errno != EINTR) {
    return Break(std::strerror(errno));
  }
  WaitReadable();
}

ssize_t Connection::Receive(char* buffer, size_t size) {
  if (kind_ == Kind::kLocalConnected) return ReceiveWithFiles(buffer, size);
  return ::recv(socket_.native_handle(), buffer, size, 0);
}

/// Files that the process has no room for are missing from the queue; whoever waits for them finds out by TakeFile.
ssize_t Connection::ReceiveWithFiles(char* buffer, size_t size) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kFilesPerMessage * sizeof(int))> control;
  iovec bytes{buffer, size};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t n = ::recvmsg(socket_.native_handle(), &message, MSG_CMSG_CLOEXEC);
  if (n < 0) return n;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    for (size_t at = CMSG_LEN(0); at + sizeof(int) <= part->cmsg_len; at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, reinterpret_cast<const char*>(part) + at, sizeof fd);
      received_files_.push_back(AdoptFile(fd, "a file of " + ends_.peer.host));
    }
  }
  return n;
}

// ---- sending -------------------------------------------------------------------------------------------------------

void Connection::ScheduleFlush() {
  if (flush_scheduled_ || waiting_writable_) return;
  flush_scheduled_ = true;
  asio::post(host_.context, [self = shared_from_this()] {
    self->flush_scheduled_ = false;
    self->host_.BeginTurn();
    self->Flush();
  });
}

/// Sends until the kernel takes no more.
void Connection::Flush() {
  while (!closed_ && !queue_.empty()) {
    const bool by_sendfile = queue_.front().file && queue_.front().left > kReadPieceMax;
    const ssize_t sent = by_sendfile ? SendFilePiece() : SendBytes();
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) return WaitWritable();
      return Break(std::strerror(errno));
    }
    if (sent == 0) return Break("a file became shorter while it was sent");
    Advance(static_cast<uint64_t>(sent));
  }
  if (closed_) return;
  if (closing_) FinishClose();
}

/// Half-closes so that the peer reads everything before it sees the end.
void Connection::FinishClose() {
  error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
  Close();
}

/// The first pieces as one message; what the kernel does not take of a file's part is read again later.
ssize_t Connection::SendBytes() {
  std::array<iovec, kBuffersPerWrite> buffers;
  size_t count = 0;
  size_t read = 0;  // into the shared buffer
  for (const Piece& piece : queue_) {
    if (count == buffers.size() || (piece.passed && count > 0)) break;
    if (!piece.file) {
      buffers[count++] = {const_cast<char*>(piece.bytes.data()) + piece.offset, piece.left};
      continue;
    }
    if (piece.left > std::min(kReadPieceMax, SocketHost::kSendBuffer - read)) break;
    const base::Result<size_t> got = ReadPiece(piece, read);
    if (count == 0 && !got.ok()) {
      errno = got.error().code;
      return -1;
    }
    if (!got.ok() || *got == 0) break;
    buffers[count++] = {host_.send_buffer.get() + read, *got};
    read += *got;
    if (*got < piece.left) break;
  }
  if (count == 0) return 0;
  msghdr message{};
  message.msg_iov = buffers.data();
  message.msg_iovlen = count;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  Piece& first = queue_.front();
  if (first.passed) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    const int fd = first.passed->descriptor();
    std::memcpy(CMSG_DATA(rights), &fd, sizeof fd);
  }
  const bool more = count < queue_.size();
  const ssize_t sent = ::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL | (more ? MSG_MORE : 0));
  if (sent > 0 && first.passed) {
    first.passed.reset();
    --unsent_files_;
  }
  return sent;
}

base::Result<size_t> Connection::ReadPiece(const Piece& piece, size_t at) {
  if (!host_.send_buffer) host_.send_buffer = std::make_unique_for_overwrite<char[]>(SocketHost::kSendBuffer);
  return piece.file->ReadAt(piece.offset, {host_.send_buffer.get() + at, piece.left});
}

ssize_t Connection::SendFilePiece() {
  Piece& piece = queue_.front();
  if (piece.left == 0) return 0;
  BlockBrokenPipeSignal();
  auto offset = static_cast<off_t>(piece.offset);
  const size_t size = piece.left < kSendFilePiece ? piece.left : kSendFilePiece;
  return ::sendfile(socket_.native_handle(), piece.file->descriptor(), &offset, size);
}

void Connection::Advance(uint64_t sent) {
  unsent_ -= sent;
  while (sent > 0) {
    Piece& piece = queue_.front();
    const uint64_t part = sent < piece.left ? sent : piece.left;
    piece.offset += part;
    piece.left -= part;
    sent -= part;
    if (piece.left == 0) queue_.pop_front();
  }
  if (above_high_water_ && unsent_ <= high_water_ / 2 && handler_ != nullptr) {
    above_high_water_ = false;
    handler_->OnDrained();
  }
}

void Connection::WaitWritable() {
  if (waiting_writable_) return;
  waiting_writable_ = true;
  socket_.async_wait(Socket::wait_write, [self = shared_from_this()](error_code error) {
    self->waiting_writable_ = false;
    self->host_.BeginTurn();
    if (self->closed_) return;
    if (error) return self->Break(error.message());
    self->Flush();
  });
}

void Connection::Break(const std::string& reason) {
  env::StreamHandler* handler = handler_;
  Close();
  if (handler != nullptr) handler->OnClosed(reason);
}

}  // namespace fairlead::env_posix
