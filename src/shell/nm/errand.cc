#include "shell/nm/errand.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <exception>

#include "base/codec.h"
#include "shell/nm/beneath.h"
#include "shell/nm/container_end.h"
#include "shell/nm/container_logs.h"
#include "shell/nm/container_setup.h"
#include "shell/nm/localizer.h"
#include "shell/nm/log_aggregation.h"

namespace fairlead::shell {

namespace {

#ifdef FAIRLEAD_SANITIZED
constexpr rlim_t kMemoryBytesMax = RLIM_INFINITY;  // the sanitizers' shadow memory takes terabytes of addresses
#else
constexpr rlim_t kMemoryBytesMax = rlim_t{4} << 30;
#endif
constexpr int64_t kQuickSeconds = 30;
constexpr int64_t kLongSeconds = 3600;

base::Result<std::string> One(const FetchErrand& errand) {
  const process::nm::Fetched fetched = FetchResource(errand.plan, errand.limits, errand.web_address, errand.now);
  std::string bytes;
  base::Encode(bytes, fetched);
  return bytes;
}

base::Result<std::string> One(const RemoveErrand& errand) {
  Budget budget;
  base::Status first;
  for (const Place& place : errand.places) {
    const base::Result<Fd> root = OpenRoot(place.root);
    if (!root) continue;  // a disk that is gone holds nothing
    const size_t slash = place.below.rfind('/');
    const std::string above = slash == std::string::npos ? "" : place.below.substr(0, slash);
    const base::Result<Fd> holder = OpenDirectory(root->get(), errand.contents_only ? place.below : above);
    if (!holder) continue;
    const base::Status removed = errand.contents_only
                                     ? RemoveContents(holder->get(), budget)
                                     : RemoveTree(holder->get(), place.below.substr(slash + 1), budget);
    if (!removed && first) first = base::Error{place.root + "/" + place.below + ": " + removed.error().message};
  }
  if (!first) return first.error();
  return std::string();
}

base::Result<std::string> One(const LogsErrand& errand) {
  std::string bytes;
  base::Encode(bytes, ReadContainerLogs(errand.query, errand.log_dirs));
  return bytes;
}

base::Result<std::string> One(const ErrorTailsErrand& errand) { return ErrorTails(errand.log_dir, errand.bytes_max); }

base::Result<std::string> One(const AggregateErrand& errand) { return AggregateLogs(errand.plan, errand.options); }

base::Result<std::string> One(const LinkErrand& errand) {
  if (base::Status linked = MakeLinks(errand.work_dir, errand.links, false); !linked) return linked.error();
  return std::string();
}

base::Result<std::string> One(const SweepErrand& errand) {
  SweepStrays(errand.variable, errand.cgroups);
  return std::string();
}

/// "" when the agent has gone.
std::string ReadFrame() {
  std::string bytes;
  size_t wanted = kErrandFrameHead;
  char buffer[65536];
  while (bytes.size() < wanted) {
    const ssize_t n = ::read(kErrandChannelFd, buffer, std::min(sizeof buffer, wanted - bytes.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return {};
    bytes.append(buffer, static_cast<size_t>(n));
    if (wanted == kErrandFrameHead && bytes.size() == wanted) {
      const uint64_t length = ErrandFrameLength(bytes);
      if (length > kErrandBytesMax) return {};
      wanted += length;
    }
  }
  return bytes.substr(kErrandFrameHead);
}

/// The kernel ends this process when the agent closes its end, whatever it is doing.
void EndWithChannel(bool on) {
  ::fcntl(kErrandChannelFd, F_SETOWN, ::getpid());
  const int flags = ::fcntl(kErrandChannelFd, F_GETFL);
  ::fcntl(kErrandChannelFd, F_SETFL, on ? flags | O_ASYNC : flags & ~O_ASYNC);
  pollfd state{kErrandChannelFd, POLLIN, 0};
  if (on && ::poll(&state, 1, 0) > 0) ::_exit(1);  // it went before
}

void SetBounds(const Errand& errand) {
  for (const auto& [what, most] : {std::pair{RLIMIT_CORE, rlim_t{0}}, {RLIMIT_AS, kMemoryBytesMax}}) {
    const rlimit limit{most, most};
    ::setrlimit(what, &limit);
  }
  if (const auto* fetch = std::get_if<FetchErrand>(&errand)) {
    const auto most = static_cast<rlim_t>(fetch->limits.bytes_max);
    const rlimit limit{most, most};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ::alarm(static_cast<unsigned>(SecondsOf(errand)));
}

}  // namespace

std::string ErrandFrame(const std::string& bytes) {
  std::string frame;
  for (size_t i = 0; i < kErrandFrameHead; ++i) frame.push_back(static_cast<char>(bytes.size() >> (8 * i) & 0xff));
  return frame + bytes;
}

uint64_t ErrandFrameLength(const std::string& bytes) {
  uint64_t length = 0;
  for (size_t i = 0; i < kErrandFrameHead; ++i) length |= uint64_t{static_cast<uint8_t>(bytes.at(i))} << (8 * i);
  return length;
}

int64_t SecondsOf(const Errand& errand) {
  if (std::holds_alternative<FetchErrand>(errand) || std::holds_alternative<AggregateErrand>(errand) ||
      std::holds_alternative<RemoveErrand>(errand))
    return kLongSeconds;
  return kQuickSeconds;
}

base::Result<std::string> Do(const Errand& errand) {
  try {
    return std::visit([](const auto& e) { return One(e); }, errand);
  } catch (const std::exception& e) {  // of an allocation beyond the bound
    return base::Error{std::string("it takes more than this process may have: ") + e.what()};
  }
}

void AnswerErrand(const std::string& result, const base::Error& error) {
  ErrandAnswer answer;
  answer.ok = error.message.empty();
  answer.code = error.code;
  answer.text = answer.ok ? result : error.message;
  std::string bytes;
  base::Encode(bytes, answer);
  [[maybe_unused]] const base::Status written = WriteAll(kErrandChannelFd, ErrandFrame(bytes));
}

int RunErrand() {
  for (int signal = 1; signal < 32; ++signal)
    ::signal(signal, signal == SIGPIPE || signal == SIGXFSZ ? SIG_IGN : SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::umask(027);
  ::alarm(kQuickSeconds);
  const std::string bytes = ReadFrame();
  Errand errand;
  base::Budget budget(kErrandKind, bytes.size());
  base::ByteReader in(bytes, budget);
  base::Decode(in, errand);
  if (bytes.empty() || !in.done()) return 1;
  SetBounds(errand);
  EndWithChannel(true);
  const base::Result<std::string> result = Do(errand);
  EndWithChannel(false);
  if (result) {
    AnswerErrand(*result, {});
  } else {
    AnswerErrand({}, result.error());
  }
  return 0;
}

}  // namespace fairlead::shell
