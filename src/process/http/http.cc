#include "process/http/http.h"

#include <algorithm>
#include <cstdio>

#include "base/text.h"

namespace fairlead::process::http {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

}  // namespace

std::string_view FindHeader(const Headers& headers, std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (std::equal(key.begin(), key.end(), name.begin(), name.end(),
                   [](char a, char b) { return Lower(a) == Lower(b); })) {
      return value;
    }
  }
  return {};
}

bool IsVisible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > ' ' && byte != 0x7f;
  });
}

void AppendHeader(std::string& head, std::string_view name, std::string_view value) {
  constexpr size_t kHeaderMax = 64 * 1024;
  if (name.empty() || !IsVisible(name) || name.find(':') != std::string_view::npos) return;
  if (name.size() + value.size() > kHeaderMax) return;
  head.append(name).append(": ");
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    head += byte < ' ' || byte == 0x7f ? ' ' : c;
  }
  head += "\r\n";
}

std::vector<std::string> PathSegments(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    if (slash != 0) parts.emplace_back(path.substr(0, slash));
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  return parts;
}

Response TextResponse(int status, std::string_view text) {
  return {status, "text/plain; charset=utf-8", base::VisibleText(text, base::Lines::kKept), {}};
}

Response BrokenPage(std::string_view what, const std::exception& error) {
  std::fprintf(stderr, "%s: %s\n", base::VisibleText(what).c_str(), error.what());
  return TextResponse(500, "This page could not be made; the log says why.\n");
}

Response Redirect(const std::string& to) {
  Response response;
  response.status = 302;
  response.headers = {{"Location", to}};
  return response;
}

Response JsonResponse(int status, std::string json) {
  return {status, "application/json; charset=utf-8", std::move(json), {}};
}

std::string PercentEncode(std::string_view text, Slashes slashes) {
  constexpr std::string_view kSafe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~";
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (kSafe.find(c) != std::string_view::npos || (c == '/' && slashes == Slashes::kKept)) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

std::string HtmlEscape(std::string_view text) {
  std::string out;
  for (const char c : base::VisibleText(text, base::Lines::kKept)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

bool PrefersXml(const Request& request) {
  const std::string_view accept = FindHeader(request.headers, "Accept");
  const size_t json = accept.find("json");
  const size_t xml = accept.find("xml");
  return xml != std::string_view::npos && (json == std::string_view::npos || xml < json) &&
         accept.find("html") == std::string_view::npos;
}

Response RestAnswer(int status, bool xml, std::string body) {
  Response response;
  response.status = status;
  response.content_type = xml ? "application/xml;charset=utf-8" : "application/json;charset=utf-8";
  response.body = std::move(body);
  response.headers = {
      {"Cache-Control", "no-cache"}, {"X-Content-Type-Options", "nosniff"}, {"X-Frame-Options", "SAMEORIGIN"}};
  return response;
}

std::string CallerOf(const Request& request) {
  if (request.visitor) return request.visitor->user;
  const auto named = request.query.find("user.name");
  return named == request.query.end() || named->second.empty() ? "dr.who" : named->second;
}

std::string ActorOf(const Request& request) {
  const std::string user = CallerOf(request);
  const bool proxied = request.visitor && !request.visitor->real_user.empty();
  return proxied ? user + " via " + request.visitor->real_user : user;
}

Response Allowing(std::string methods) {
  Response response = TextResponse(200, "");
  response.headers = {{"Allow", std::move(methods)}};
  return response;
}

}  // namespace fairlead::process::http
