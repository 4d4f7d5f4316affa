#pragma once

#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/percent.h"

namespace fairlead::process::http {

using Headers = std::vector<std::pair<std::string, std::string>>;

/// The value of a header (names compare without case), or "".
std::string_view FindHeader(const Headers& headers, std::string_view name);

/// Who asks, where more than a name in the request says so.
struct Visitor {
  std::string user;       // whose rights count, by the short name
  std::string real_user;  // who acts in the user's name; empty: nobody
  std::string principal;  // whose ticket it was, in full; empty: by a token, or a name that is believed
  std::string full_name;  // whose rights count, in full
  bool by_token = false;
};

struct Request {
  std::string method;                        // "GET"
  std::string target;                        // as sent: path and query
  std::string path;                          // decoded: "/ws/v1/cluster/apps"
  std::map<std::string, std::string> query;  // decoded; the last of equal names
  Headers headers;
  int version = 11;  // 10: HTTP/1.0
  std::string body;
  std::string peer;  // address of the client
  /// What a login before the port has found; nothing: the name in the request counts.
  std::optional<Visitor> visitor = {};
  /// Expires with the connection: then nobody waits for an answer.
  std::weak_ptr<const void> asker = {};
};

/// "/a//b" -> a, b.
std::vector<std::string> PathSegments(std::string_view path);

struct Response {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  Headers headers;  // besides Content-Type and Content-Length
};

/// For people: control characters that strangers put into names are seen, not obeyed.
Response TextResponse(int status, std::string_view text);
/// 302.
Response Redirect(const std::string& to);
Response JsonResponse(int status, std::string json);
/// 500 for a page that could not be made; `what` it was and the reason go to standard error.
Response BrokenPage(std::string_view what, const std::exception& error);

/// Appends "name: value" and the end of the line to a head. Control characters become spaces, so that no text from
/// outside begins another header; a name that is no token, or more than 64 KiB, leaves the header out.
void AppendHeader(std::string& head, std::string_view name, std::string_view value);
/// Has no control character and no space: can stand in the first line of a head.
bool IsVisible(std::string_view text);

using base::PercentDecode;
enum class Slashes { kEncoded, kKept };
std::string PercentEncode(std::string_view text, Slashes slashes = Slashes::kEncoded);
/// `text` safe inside HTML; control characters are seen.
std::string HtmlEscape(std::string_view text);
/// Whether a REST answer is to be XML: Accept names it, before JSON, and it is no browser that asks (JSON is YARN's
/// default).
bool PrefersXml(const Request& request);
/// `body`, which is XML or JSON, with the headers of Hadoop's REST answers.
Response RestAnswer(int status, bool xml, std::string body);
/// `document` below `root` as the request wants it.
template <class Document>
Response Rendered(const Request& request, const Document& document, std::string_view root, int status = 200) {
  const bool xml = PrefersXml(request);
  return RestAnswer(status, xml, xml ? document.ToXml(root) : document.ToJson(root));
}
/// Who asks: the visitor, else as Hadoop's simple authentication has it.
std::string CallerOf(const Request& request);
/// For lines about who did what: "bob", or "bob via livy".
std::string ActorOf(const Request& request);
/// The answer to OPTIONS: how Hadoop's web client asks whether it must authenticate (KerberosAuthenticator).
Response Allowing(std::string methods);

}  // namespace fairlead::process::http
