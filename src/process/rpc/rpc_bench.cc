// Calls over loopback sockets with server and client on one thread: what one core of a daemon can take in.
#include <benchmark/benchmark.h>

#include "base/check.h"
#include "endpoints/yarn/tokens.h"
#include "env_posix/posix_loop.h"
#include "process/rpc/rpc_client.h"
#include "process/rpc/rpc_server.h"
#include "wire/yarn/master.h"
#include "wire/yarn/protocols.h"

namespace fairlead::process::rpc {
namespace {

/// range(0): calls in flight at a time.
void Allocate(benchmark::State& state) {
  const auto loop = env_posix::MakePosixLoop();
  endpoints::yarn::AmRmTokens tokens(endpoints::yarn::MasterKeys{{1, "12345678"}, {}});
  RpcServer server(*loop, *loop);
  ListenOptions options;
  options.session.allow_simple = false;
  options.session.tokens = &tokens;
  options.services.push_back({wire::yarn::kApplicationMasterProtocol, wire::yarn::kApplicationMasterProtocolMethods,
                              [&server](const IncomingCall& call) {
                                wire::yarn::AllocateRequestProto request;
                                FL_CHECK(request.ParseFrom(call.request, wire::hadoop_rpc::CallKind(call.method)).ok(),
                                         "the request is good");
                                wire::yarn::AllocateResponseProto response;
                                response.response_id = request.ResponseId() + 1;
                                server.ReplyMessage(call.token, response);
                              }});
  const auto address = server.Listen({"127.0.0.1", 0}, std::move(options));
  FL_CHECK(address.ok(), "loopback is there");
  RpcClient client(*loop, *loop);
  const RpcTarget target{
      *address, std::string(wire::yarn::kApplicationMasterProtocol), {"alice", "", tokens.Mint({{1, 1}, 1})}};
  const int in_flight = static_cast<int>(state.range(0));
  wire::yarn::AllocateRequestProto request;
  request.response_id = 7;
  request.progress = 0.5F;
  for (auto _ : state) {
    int waiting = in_flight;
    for (int i = 0; i < in_flight; ++i) {
      client.Call<wire::yarn::AllocateResponseProto>(
          target, "allocate", request, base::Duration::Seconds(60),
          [&](base::Result<wire::yarn::AllocateResponseProto, RpcError> result) {
            FL_CHECK(result.ok() && result->ResponseId() == 8, "the answer is right");
            if (--waiting == 0) loop->Stop();
          });
    }
    loop->Run();
  }
  state.SetItemsProcessed(state.iterations() * in_flight);
}
BENCHMARK(Allocate)->Arg(1)->Arg(100)->Unit(benchmark::kMicrosecond)->UseRealTime();

}  // namespace
}  // namespace fairlead::process::rpc
