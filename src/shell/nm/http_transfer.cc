#include "shell/nm/http_transfer.h"

#include <curl/curl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "process/http/failover.h"
#include "shell/nm/beneath.h"

namespace fairlead::shell {
namespace {

constexpr long kConnectSeconds = 20;
constexpr long kSlowestBytesPerSecond = 16 * 1024;
constexpr long kSlowSeconds = 60;

struct Sink {
  std::string* text = nullptr;
  int file = -1;
  int64_t left = 0;
};

size_t Receive(char* data, size_t one, size_t count, void* to) {
  auto* sink = static_cast<Sink*>(to);
  const size_t n = one * count;
  if (static_cast<int64_t>(n) > sink->left) return 0;
  sink->left -= static_cast<int64_t>(n);
  if (sink->file < 0) {
    sink->text->append(data, n);
    return n;
  }
  return WriteAll(sink->file, {data, n}) ? n : 0;
}

struct Source {
  int file;
  int64_t at;
  int64_t end;
};

size_t Send(char* to, size_t one, size_t count, void* from) {
  auto* source = static_cast<Source*>(from);
  const auto room = static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(one * count), source->end - source->at));
  const ssize_t n = ::pread(source->file, to, room, source->at);
  if (n < 0) return CURL_READFUNC_ABORT;
  source->at += n;
  return static_cast<size_t>(n);
}

}  // namespace

std::string WithoutQuery(const std::string& url) { return url.substr(0, url.find('?')); }

base::Result<HttpTransferred> Transfer(const HttpTransfer& order) {
  static const bool ready = ::curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  if (!ready) return base::Error{"libcurl cannot start"};
  HttpTransferred out;
  Sink sink{&out.text, order.to, order.to_bytes_max};
  Source source{order.from, 0, order.from < 0 ? 0 : order.from_bytes};
  const std::unique_ptr<CURL, void (*)(CURL*)> curl(::curl_easy_init(), ::curl_easy_cleanup);
  ::curl_easy_setopt(curl.get(), CURLOPT_URL, order.url.c_str());
  ::curl_easy_setopt(curl.get(), CURLOPT_FOLLOWLOCATION, order.follow ? 1L : 0L);
  ::curl_easy_setopt(curl.get(), CURLOPT_MAXREDIRS, 5L);
  ::curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  ::curl_easy_setopt(curl.get(), CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  ::curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  ::curl_easy_setopt(curl.get(), CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  ::curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_LIMIT, kSlowestBytesPerSecond);
  ::curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_TIME, kSlowSeconds);
  ::curl_easy_setopt(curl.get(), CURLOPT_FILETIME, 1L);
  ::curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, &Receive);
  ::curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &sink);
  if (order.method == "PUT") {
    ::curl_easy_setopt(curl.get(), CURLOPT_UPLOAD, 1L);
    ::curl_easy_setopt(curl.get(), CURLOPT_READFUNCTION, &Send);
    ::curl_easy_setopt(curl.get(), CURLOPT_READDATA, &source);
    ::curl_easy_setopt(curl.get(), CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(source.end));
  } else if (order.method != "GET") {
    ::curl_easy_setopt(curl.get(), CURLOPT_CUSTOMREQUEST, order.method.c_str());
  }
  if (order.by_ticket) {
    ::curl_easy_setopt(curl.get(), CURLOPT_HTTPAUTH, CURLAUTH_NEGOTIATE);
    ::curl_easy_setopt(curl.get(), CURLOPT_USERPWD, ":");  // whoever the ticket says
  }
  // A server that knows callers by their processes is told that this one asks for another (WebLogin).
  using Headers = std::unique_ptr<curl_slist, void (*)(curl_slist*)>;
  const Headers headers(::curl_slist_append(nullptr, "Via: 1.1 fairlead-nm"), ::curl_slist_free_all);
  ::curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers.get());
  const CURLcode code = ::curl_easy_perform(curl.get());
  if (code != CURLE_OK) {
    const bool reached = code != CURLE_COULDNT_CONNECT && code != CURLE_COULDNT_RESOLVE_HOST;
    return base::Error{WithoutQuery(order.url) + ": " + ::curl_easy_strerror(code),
                       reached ? 0 : process::http::kNotConnected};
  }
  ::curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &out.status);
  const char* redirect = nullptr;
  ::curl_easy_getinfo(curl.get(), CURLINFO_REDIRECT_URL, &redirect);
  if (redirect != nullptr) out.redirect = redirect;
  curl_off_t time = -1;
  ::curl_easy_getinfo(curl.get(), CURLINFO_FILETIME_T, &time);
  out.modified_s = time;
  return out;
}

}  // namespace fairlead::shell
