#include "shell/nm/localizer_web.h"

#include <cerrno>

#include "process/http/http.h"
#include "shell/nm/http_transfer.h"
#include "shell/nm/web_hdfs.h"

namespace fairlead::shell {

namespace {

using process::http::PercentEncode;
using process::http::Slashes;

base::Status GetFile(const std::string& url, int to, int64_t bytes_max, int64_t& modified_s) {
  const auto got = Transfer({.url = url, .follow = true, .to = to, .to_bytes_max = bytes_max});
  if (!got) return got.error();
  if (got->status != 200) return base::Error{WithoutQuery(url) + ": HTTP status " + std::to_string(got->status)};
  modified_s = got->modified_s;
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
  const WebHdfs hdfs(address, {source.user, TokenFor(source.tokens, source.scheme, source.authority)});
  const auto status = hdfs.StatusOf(source.path);
  if (!status) return status.error();
  if (!*status) return base::Error{resource.url + ": File does not exist: " + source.path};
  const int64_t modified = (*status)->modified_ms;
  if (modified != resource.timestamp_ms) return Changed(resource.url, resource.timestamp_ms, modified);
  return hdfs.Get(source.path, to, bytes_max);
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
  if (base::Status got = GetFile(url, to, bytes_max, modified_s); !got) return got;
  if (modified_s >= 0 && modified_s != resource.timestamp_ms / 1000)
    return Changed(resource.url, resource.timestamp_ms, modified_s * 1000);
  return {};
}

}  // namespace fairlead::shell
