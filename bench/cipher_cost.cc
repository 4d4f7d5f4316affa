// What Kerberos' cipher itself takes of a processor for the bytes of one call: the request is unwrapped and the answer
// wrapped, as a server with hadoop.rpc.protection=privacy does, and nothing else.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "env_kerberos/mit_gss.h"
#include "env_posix/posix_loop.h"

namespace {

using namespace fairlead;

constexpr char kUsage[] =
    "usage: bench_cipher_cost PRINCIPAL KEYTAB REQUEST ANSWER CALLS\n"
    "REQUEST and ANSWER are bytes. The ticket is that of the default cache. Prints microseconds of a processor a "
    "call.\n";
constexpr size_t kAtOnce = 100;

template <class T>
T Or(base::Result<T> result, const char* what) {
  if (result) return std::move(result).value();
  std::fprintf(stderr, "bench_cipher_cost: %s: %s\n", what, result.error().message.c_str());
  std::exit(1);
}

double ProcessorMicros() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

/// Both sides of one login, whose tokens go from one to the other until both are content.
class Login {
 public:
  Login(env_posix::PosixLoop& loop, env::Gss& server, env::Gss& client, const std::string& principal)
      : loop_(loop), server_(server.Accept("127.0.0.1")), client_(client.Initiate(principal, "localhost")) {
    std::string token;
    for (bool done = false; !done;) {
      const env::GssContext::Token said = Step(*client_, std::move(token));
      if (said.done && said.bytes.empty()) break;
      const env::GssContext::Token answer = Step(*server_, said.bytes);
      token = answer.bytes;
      done = answer.done && said.done;
    }
  }

  double Micros(size_t request, size_t answer, size_t calls) {
    const std::string asked(request, 'q');
    const std::string told(answer, 'a');
    double total = 0;
    for (size_t at = 0; at < calls; at += kAtOnce) {
      std::vector<std::string> wrapped;
      for (size_t i = 0; i < kAtOnce; ++i) wrapped.push_back(Or(client_->Wrap(asked, true), "wrap"));
      const double begun = ProcessorMicros();
      for (const std::string& one : wrapped) {
        Or(server_->Unwrap(one, true), "unwrap");
        Or(server_->Wrap(told, true), "wrap");
      }
      total += ProcessorMicros() - begun;
    }
    return total / static_cast<double>((calls + kAtOnce - 1) / kAtOnce * kAtOnce);
  }

 private:
  env::GssContext::Token Step(env::GssContext& side, std::string token) {
    base::Result<env::GssContext::Token> result = base::Error{"no answer"};
    side.Step(std::move(token), [&](base::Result<env::GssContext::Token> stepped) {
      result = std::move(stepped);
      loop_.Stop();
    });
    loop_.Run();
    return Or(std::move(result), "login");
  }

  env_posix::PosixLoop& loop_;
  std::unique_ptr<env::GssContext> server_, client_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return std::fputs(kUsage, stderr), 2;
  const auto loop = env_posix::MakePosixLoop();
  const auto server = Or(env_kerberos::MakeGss(*loop, {.principal = argv[1], .keytab = argv[2]}), "server");
  const auto client = Or(env_kerberos::MakeGss(*loop, {}), "client");
  Login login(*loop, *server, *client, argv[1]);
  std::printf("%.2f\n", login.Micros(std::strtoul(argv[3], nullptr, 10), std::strtoul(argv[4], nullptr, 10),
                                     std::strtoul(argv[5], nullptr, 10)));
  return 0;
}
