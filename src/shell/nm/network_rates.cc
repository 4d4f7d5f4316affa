#include "shell/nm/network_rates.h"

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "shell/nm/allowed_calls.h"

namespace fairlead::shell {

namespace {

constexpr char kKeeperCapabilities[] = "cap_net_admin";
constexpr int64_t kBytesPerMbit = 125'000;
constexpr int64_t kMbitMax = 10'000'000;
constexpr int64_t kBurstBytesMin = 64 << 10;  // of one packet, as segmentation offload hands it over
constexpr int64_t kNanosPerTick = 64;         // in which HTB counts a burst (psched_ticks in the kernel)
constexpr uint32_t kQuantumBytes = 60'000;
constexpr int kOtherEndsMs = 2000;
constexpr timeval kAnswersWithin{5, 0};

/// What the agent tells its keeper; an errno comes back, 0 when it is done.
struct Rate {
  uint32_t network_class = 0;
  int64_t mbit_per_second = 0;
};

/// Traffic control of one interface by netlink (rtnetlink(7), tc-htb(8), tc-bpf(8)).
class TrafficControl {
 public:
  explicit TrafficControl(int interface)
      : interface_(interface), socket_(::mnl_socket_open(NETLINK_ROUTE), ::mnl_socket_close) {
    if (socket_ && ::mnl_socket_bind(socket_.get(), 0, MNL_SOCKET_AUTOPID) < 0) socket_.reset();
  }

  /// The functions give an errno, 0 when it is done.
  int MakeDiscipline() {
    nlmsghdr* message = Begin(RTM_NEWQDISC, NLM_F_EXCL, kNetworkMajor, TC_H_ROOT, "htb");
    nlattr* options = ::mnl_attr_nest_start(message, TCA_OPTIONS);
    tc_htb_glob glob{};
    glob.version = 3;
    glob.rate2quantum = 10;  // never used: classes say their quantum
    ::mnl_attr_put(message, TCA_HTB_INIT, sizeof glob, &glob);
    ::mnl_attr_nest_end(message, options);
    const int error = Send(message);
    // Without options and exclusivity the kernel takes it for a change of its own, which is none.
    return error == EEXIST ? Send(Begin(RTM_NEWQDISC, 0, kNetworkMajor, TC_H_ROOT, "htb")) : error;
  }

  int MakeFilter(int program) {
    nlmsghdr* message =
        Begin(RTM_NEWTFILTER, NLM_F_EXCL, 1, kNetworkMajor, "bpf", TC_H_MAKE(1 << 16, htons(ETH_P_ALL)));
    nlattr* options = ::mnl_attr_nest_start(message, TCA_OPTIONS);
    ::mnl_attr_put_u32(message, TCA_BPF_FD, static_cast<uint32_t>(program));
    ::mnl_attr_put_strz(message, TCA_BPF_NAME, "fairlead");
    ::mnl_attr_nest_end(message, options);
    const int error = Send(message);
    return error == EEXIST ? 0 : error;  // of an earlier run
  }

  int SetClass(const Rate& rate) {
    const int64_t bytes = std::clamp<int64_t>(rate.mbit_per_second, 1, kMbitMax) * kBytesPerMbit;
    const int64_t burst = std::max(kBurstBytesMin, bytes / 250);  // what it sends in 4 ms
    tc_htb_opt parameters{};
    parameters.rate.linklayer = TC_LINKLAYER_ETHERNET;
    parameters.rate.rate = static_cast<uint32_t>(std::min<int64_t>(bytes, UINT32_MAX));
    parameters.ceil = parameters.rate;
    parameters.buffer =
        static_cast<uint32_t>(static_cast<double>(burst) / static_cast<double>(bytes) * 1e9 / kNanosPerTick);
    parameters.cbuffer = parameters.buffer;
    parameters.quantum = kQuantumBytes;
    nlmsghdr* message = Begin(RTM_NEWTCLASS, 0, kNetworkMajor | rate.network_class, kNetworkMajor, "htb");
    nlattr* options = ::mnl_attr_nest_start(message, TCA_OPTIONS);
    ::mnl_attr_put(message, TCA_HTB_PARMS, sizeof parameters, &parameters);
    for (const uint16_t whole : {TCA_HTB_RATE64, TCA_HTB_CEIL64})
      ::mnl_attr_put_u64(message, whole, static_cast<uint64_t>(bytes));
    ::mnl_attr_nest_end(message, options);
    return Send(message);
  }

 private:
  nlmsghdr* Begin(uint16_t type, uint16_t flags, uint32_t handle, uint32_t parent, const char* kind,
                  uint32_t info = 0) {
    nlmsghdr* message = ::mnl_nlmsg_put_header(buffer_.data());
    message->nlmsg_type = type;
    message->nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | flags);
    message->nlmsg_seq = ++sequence_;
    auto* about = static_cast<tcmsg*>(::mnl_nlmsg_put_extra_header(message, sizeof(tcmsg)));
    about->tcm_ifindex = interface_;
    about->tcm_handle = handle;
    about->tcm_parent = parent;
    about->tcm_info = info;
    ::mnl_attr_put_strz(message, TCA_KIND, kind);
    return message;
  }

  int Send(const nlmsghdr* message) {
    if (!socket_ || ::mnl_socket_sendto(socket_.get(), message, message->nlmsg_len) < 0) return errno;
    const ssize_t size = ::mnl_socket_recvfrom(socket_.get(), buffer_.data(), buffer_.size());
    if (size < 0) return errno;
    const unsigned port = ::mnl_socket_get_portid(socket_.get());
    return ::mnl_cb_run(buffer_.data(), static_cast<size_t>(size), sequence_, port, nullptr, nullptr) < 0 ? errno : 0;
  }

  const int interface_;
  std::unique_ptr<mnl_socket, int (*)(mnl_socket*)> socket_;
  uint32_t sequence_ = 0;
  std::array<char, 8192> buffer_{};
};

/// A filter that gives a packet's class: what net_cls.classid says for the group that made its socket. It needs no
/// module of the kernel, as tc-cgroup(8) would.
Fd LoadFilter() {
  std::array<bpf_insn, 2> code{};
  code[0].code = BPF_JMP | BPF_CALL;
  code[0].imm = BPF_FUNC_get_cgroup_classid;
  code[1].code = BPF_JMP | BPF_EXIT;
  static constexpr char kLicense[] = "Apache-2.0";
  bpf_attr load{};
  load.prog_type = BPF_PROG_TYPE_SCHED_CLS;
  load.insns = reinterpret_cast<uint64_t>(code.data());
  load.insn_cnt = code.size();
  load.license = reinterpret_cast<uint64_t>(kLicense);
  return Fd(static_cast<int>(::syscall(SYS_bpf, BPF_PROG_LOAD, &load, sizeof load)));
}

/// Whether the holder of a name, to which `caller` has connected, was root when it began to listen. Anybody may take a
/// name of the kernel: what is not root's is no keeper's.
bool IsKeepers(const Fd& caller) {
  ucred holder{};
  socklen_t size = sizeof holder;
  return ::getsockopt(caller.get(), SOL_SOCKET, SO_PEERCRED, &holder, &size) == 0 && holder.uid == 0;
}

/// Held as long as the keeper lives: a name in the network namespace, so that no second agent uses the classes. The
/// keeper of an agent that has just ended is about to end, too. A name that somebody else has taken is done without.
base::Result<Fd> ClaimInterface(const std::string& interface) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "fairlead-network-" + interface;
  std::memcpy(address.sun_path + 1, name.data(), std::min(name.size(), sizeof address.sun_path - 1));
  const auto* at = reinterpret_cast<const sockaddr*>(&address);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const Fd other(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  Fd claim(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  bool claimed = ::bind(claim.get(), at, size) == 0;
  if (!claimed && errno == EADDRINUSE) {
    pollfd end{other.get(), 0, 0};
    const bool met = ::connect(other.get(), at, size) == 0;
    if (!met || !IsKeepers(other)) return claim;  // a keeper listens as soon as it has its name
    ::poll(&end, 1, kOtherEndsMs);
    claimed = ::bind(claim.get(), at, size) == 0;
  }
  if (claimed && ::listen(claim.get(), 1) == 0) return claim;
  if (errno == EADDRINUSE) return base::Error{"another node agent sets the rates of " + interface};
  return ErrnoOf("the name of " + interface);
}

[[noreturn]] void Keep(TrafficControl& control, const UnixUser& agent, const Fd& agents_end) {
  ::setsid();
  ::prctl(PR_SET_NAME, "fl-network");
  base::Result<AllowedCalls> calls = AllowedCalls::Compile(AllowedCalls::NewProcesses::kForbidden);
  if (!calls || !BecomeWith(agent, kKeeperCapabilities).ok() || !calls->Impose().ok()) ::_exit(2);
  Rate rate;
  while (::recv(agents_end.get(), &rate, sizeof rate, 0) == sizeof rate) {
    const bool known = rate.network_class >= 1 && rate.network_class <= kNetworkClassMax;
    const int error = known ? control.SetClass(rate) : EINVAL;
    if (::send(agents_end.get(), &error, sizeof error, MSG_NOSIGNAL) < 0) break;
  }
  ::_exit(0);
}

base::Error Failed(const std::string& what, int error) { return {what + ": " + std::strerror(error), error}; }

}  // namespace

base::Result<std::unique_ptr<NetworkRates>> NetworkRates::Start(const std::string& interface, const UnixUser& agent) {
  if (::geteuid() != 0) return base::Error{"only root can set rates of a network interface"};
  const unsigned index = ::if_nametoindex(interface.c_str());
  if (index == 0) return base::Error{"there is no network interface " + interface};
  const base::Result<Fd> claim = ClaimInterface(interface);
  if (!claim) return claim.error();
  TrafficControl control(static_cast<int>(index));
  if (const int error = control.MakeDiscipline(); error != 0) {
    return Failed("the queueing discipline of " + interface +
                      (error == EEXIST ? " is somebody else's (tc qdisc show dev " + interface + ")" : ""),
                  error);
  }
  const Fd program = LoadFilter();
  if (!program.valid()) return Failed("the filter of " + interface, errno);
  if (const int error = control.MakeFilter(program.get()); error != 0)
    return Failed("the filter of " + interface, error);
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) return ErrnoOf("socketpair");
  Fd ours(ends[0]);
  const Fd theirs(ends[1]);
  if (::setsockopt(ours.get(), SOL_SOCKET, SO_RCVTIMEO, &kAnswersWithin, sizeof kAnswersWithin) < 0)
    return ErrnoOf("the time that the keeper of network rates has");
  const pid_t pid = ::fork();
  if (pid < 0) return ErrnoOf("fork");
  if (pid > 0) return std::unique_ptr<NetworkRates>(new NetworkRates(std::move(ours)));
  ::close(ends[0]);
  Keep(control, agent, theirs);
}

base::Status NetworkRates::Set(uint32_t network_class, int64_t mbit_per_second) {
  const Rate rate{network_class, mbit_per_second};
  int error = 0;
  if (TEMP_FAILURE_RETRY(::send(keeper_.get(), &rate, sizeof rate, MSG_NOSIGNAL)) < 0 ||
      TEMP_FAILURE_RETRY(::recv(keeper_.get(), &error, sizeof error, 0)) != sizeof error) {
    ::shutdown(keeper_.get(), SHUT_RDWR);  // a late answer would be taken for the next rate's
    return base::Error{"the process that sets network rates has gone or does not answer; restart the node agent"};
  }
  if (error != 0) return Failed("the network rate", error);
  return {};
}

}  // namespace fairlead::shell
