#include "shell/nm/localizer_web.h"

#include <curl/curl.h>

#include <cerrno>
#include <memory>
#include <nlohmann/json.hpp>

#include "process/http/http.h"
#include "shell/nm/beneath.h"
#include "wire/json/json.h"

namespace fairlead::shell {

namespace {

using process::http::PercentEncode;
using process::http::Slashes;

constexpr size_t kAnswerBytesMax = 1 << 20;
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
  if (sink->text) {
    sink->text->append(data, n);
    return n;
  }
  return WriteAll(sink->file, {data, n}) ? n : 0;
}

/// One GET that follows redirections; the answer's status, or why there is none.
base::Result<long> Get(const std::string& url, Sink sink, int64_t* modified_s = nullptr) {
  static const bool ready = ::curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  if (!ready) return base::Error{"libcurl cannot start"};
  const std::unique_ptr<CURL, void (*)(CURL*)> curl(::curl_easy_init(), ::curl_easy_cleanup);
  ::curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  ::curl_easy_setopt(curl.get(), CURLOPT_FOLLOWLOCATION, 1L);
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
  const CURLcode code = ::curl_easy_perform(curl.get());
  if (code != CURLE_OK) return base::Error{url + ": " + ::curl_easy_strerror(code)};
  long status = 0;
  ::curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  if (modified_s) {
    curl_off_t time = -1;
    ::curl_easy_getinfo(curl.get(), CURLINFO_FILETIME_T, &time);
    *modified_s = time;
  }
  return status;
}

base::Status GetFile(const std::string& url, int to, int64_t bytes_max, int64_t* modified_s) {
  const base::Result<long> status = Get(url, Sink{nullptr, to, bytes_max}, modified_s);
  if (!status) return status.error();
  if (*status != 200) return base::Error{url + ": HTTP status " + std::to_string(*status)};
  return {};
}

base::Error Changed(const std::string& url, int64_t expected, int64_t was) {
  return {"Resource " + url + " changed on src filesystem - expected: " + std::to_string(expected) +
          ", was: " + std::to_string(was)};
}

base::Status FetchFromHdfs(const WebSource& source, const model::nm::LocalResource& resource, int to,
                           int64_t bytes_max) {
  const std::string& address = source.web_address;
  if (address.empty()) {
    return base::Error{"No FileSystem for " + source.scheme + "://" + source.authority +
                       ": set dfs.namenode.http-address so that it can be read by WebHDFS"};
  }
  const std::string base_url = address + "/webhdfs/v1" + PercentEncode(source.path, Slashes::kKept);
  const std::string user = "&user.name=" + PercentEncode(source.user);
  std::string answer;
  const base::Result<long> status =
      Get(base_url + "?op=GETFILESTATUS" + user, Sink{&answer, -1, static_cast<int64_t>(kAnswerBytesMax)});
  if (!status) return status.error();
  if (*status != 200) return base::Error{resource.url + ": WebHDFS answers " + std::to_string(*status) + " " + answer};
  const auto file = wire::json::Parse(answer, wire::json::kAnswer);
  if (!file) return base::Error{resource.url + ": WebHDFS gave no file status: " + file.error().message};
  const auto info = file->is_object() ? file->find("FileStatus") : file->end();
  if (info == file->end() || !info->is_object() ||
      !info->value("modificationTime", nlohmann::json()).is_number_integer())
    return base::Error{resource.url + ": WebHDFS gave no file status"};
  const int64_t modified = info->at("modificationTime").get<int64_t>();
  if (modified != resource.timestamp_ms) return Changed(resource.url, resource.timestamp_ms, modified);
  return GetFile(base_url + "?op=OPEN" + user, to, bytes_max, nullptr);
}

}  // namespace

base::Status FetchFromWeb(const WebSource& source, const model::nm::LocalResource& resource, int to,
                          int64_t bytes_max) {
  if (source.scheme == "hdfs" || source.scheme == "webhdfs" || source.scheme == "swebhdfs")
    return FetchFromHdfs(source, resource, to, bytes_max);
  if (source.scheme != "http" && source.scheme != "https")
    return base::Error{"No FileSystem for scheme \"" + source.scheme + "\"", EPROTONOSUPPORT};
  int64_t modified_s = -1;
  const std::string url = source.scheme + "://" + source.authority + PercentEncode(source.path, Slashes::kKept);
  if (base::Status got = GetFile(url, to, bytes_max, &modified_s); !got) return got;
  if (modified_s >= 0 && modified_s != resource.timestamp_ms / 1000)
    return Changed(resource.url, resource.timestamp_ms, modified_s * 1000);
  return {};
}

}  // namespace fairlead::shell
