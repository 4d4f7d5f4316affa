#include <cerrno>
#include <charconv>
#include <optional>
#include <utility>

#include "endpoints/v1/cluster.h"
#include "process/rm/questions.h"
#include "process/rm/web.h"
#include "process/rm/web_resources.h"

// The cluster as it was, for the pages: /fairlead/v1/past, past/cluster, past/apps, past/nodes and past/queues. The
// journal tells it (KeptJournal), in its turn with the other questions.

namespace fairlead::process::rm {

namespace v1 = endpoints::v1;

namespace {

/// Milliseconds since 1970; nothing: there is no such number.
std::optional<base::WallTime> MomentOf(const Query& query) {
  const std::string_view text = Asked(query, "at");
  int64_t ms = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), ms);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || ms < 0) return std::nullopt;
  return base::WallTime{ms};
}

/// NAME?QUERY, without what is not the document's own.
std::string TargetOf(const std::string& name, const Query& query) {
  std::string target = name;
  for (const auto& [key, value] : query) {
    if (key == "at" || key == "user.name") continue;
    target += (target.size() == name.size() ? "?" : "&") + http::PercentEncode(key) + "=" + http::PercentEncode(value);
  }
  return target;
}

http::Response NotTold(const base::Error& error) {
  if (error.code == ETIMEDOUT) return Questions::OutOfTime(error.message);
  const int status = error.code == ENOENT ? 404 : error.code == EINVAL ? 400 : 500;
  return http::JsonResponse(status, v1::Text(v1::Error{error.message}));
}

}  // namespace

// GET past: from when to when something is kept. GET past/NAME?at=MS&...: PastDocument.
void Web::Past(const http::Request& request, const Segments& path, const Reply& reply) {
  const std::string user = http::CallerOf(request);
  if (manager_.access().Of(user).acls && RefuseStranger(user, reply)) return;  // it names every application
  const auto& journal = manager_.options().journal;
  if (!journal || !journal->facts()) return OwnError(reply, 404, "no journal is kept (fairlead.rm.journal-bytes)");
  const auto made = std::make_shared<http::Response>();
  Questions::Begin begin;
  if (path.empty()) {
    begin = [made, span = journal->span](const auto&) {
      return [made, span] {
        const auto kept = span();
        *made = kept ? http::JsonResponse(200, v1::Text(v1::Past{kept->from.ms, kept->to.ms})) : NotTold(kept.error());
      };
    };
  } else {
    const std::optional<base::WallTime> at = MomentOf(request.query);
    if (!at) return OwnError(reply, 400, "at: write milliseconds since 1970");
    begin = [made, at = *at, target = TargetOf(path[0], request.query), tell = journal->tell](const auto& ended) {
      return [made, at, target, tell, ended] {
        auto document = tell(at, target, ended);
        *made = document ? http::JsonResponse(200, *std::move(document)) : NotTold(document.error());
      };
    };
  }
  const bool taken =
      questions_->Ask(http::CallerOf(request), request.asker, begin, [made, reply] { reply(std::move(*made)); });
  if (!taken) reply(Questions::TooMany());
}

}  // namespace fairlead::process::rm
