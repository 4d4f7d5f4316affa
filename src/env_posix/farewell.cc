#include <array>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <string>
#include <utility>

#include "env_posix/farewell_internal.h"

namespace fairlead::env_posix {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr int kToldMost = 32;
constexpr size_t kFirstMost = 512;
constexpr std::chrono::seconds kPatience{2};

std::atomic<int> told{0};

/// One stranger from the first byte to the close. After the answer his bytes are read and forgotten until he closes: a
/// close before that would take the answer back (RST).
class Leaving : public std::enable_shared_from_this<Leaving> {
 public:
  Leaving(asio::ip::tcp::socket socket, Stranger stranger)
      : socket_(std::move(socket)), timer_(socket_.get_executor()), stranger_(std::move(stranger)) {
    ++told;
  }
  ~Leaving() { --told; }
  Leaving(const Leaving&) = delete;
  Leaving& operator=(const Leaving&) = delete;

  void Start() {
    timer_.expires_after(kPatience);
    timer_.async_wait([self = shared_from_this()](error_code error) {
      if (!error) self->Close();
    });
    Read();
  }

 private:
  void Read() {
    socket_.async_read_some(asio::buffer(buffer_), [self = shared_from_this()](error_code error, size_t size) {
      if (error) return self->Close();
      if (self->answered_) return self->Read();
      self->first_.append(self->buffer_.data(), size);
      self->Answer();
    });
  }

  void Answer() {
    std::optional<std::string> answer = FarewellOfStrangers()(stranger_, first_);
    if (!answer && first_.size() < kFirstMost) return Read();
    if (!answer || answer->empty()) return Close();
    answered_ = true;
    answer_ = *std::move(answer);
    asio::async_write(socket_, asio::buffer(answer_), [self = shared_from_this()](error_code error, size_t) {
      if (error) return self->Close();
      self->socket_.shutdown(asio::ip::tcp::socket::shutdown_send, error);
      self->Read();
    });
  }

  void Close() {
    error_code ignored;
    timer_.cancel();
    socket_.close(ignored);
  }

  asio::ip::tcp::socket socket_;
  asio::steady_timer timer_;
  const Stranger stranger_;
  std::array<char, kFirstMost> buffer_{};
  std::string first_;
  std::string answer_;
  bool answered_ = false;
};

}  // namespace

void Refuse(asio::ip::tcp::socket socket, Stranger stranger) {
  if (!FarewellOfStrangers() || told >= kToldMost) return;  // closes it
  std::make_shared<Leaving>(std::move(socket), std::move(stranger))->Start();
}

}  // namespace fairlead::env_posix
