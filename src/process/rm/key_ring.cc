#include "process/rm/key_ring.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/stored.h"
#include "endpoints/yarn/rm_convert.h"
#include "process/rm/log_context.h"
#include "process/rm/reports.h"
#include "wire/hadoop_rpc/base64.h"

namespace fairlead::process::rm {

namespace w = wire::yarn;
using endpoints::yarn::MasterKey;
using endpoints::yarn::MasterKeys;
using endpoints::yarn::RpcToken;
using endpoints::yarn::ToWire;

namespace {
constexpr char kTable[] = "rm/key";
constexpr char kLaidOpenTable[] = "rm/key-laid-open";
constexpr base::Duration kLaidOpenFor = base::Duration::Seconds(600);
}  // namespace

KeyRing::KeyRing(env::Loop& loop, const fairlead::rm::Core& core, KeyTimes times)
    : loop_(loop),
      core_(core),
      times_(times),
      amrm_{"amrm", times.amrm_roll, times.master_activation, env::Timer(loop), env::Timer(loop), {}},
      node_{"nm", times.node_roll, times.node_activation, env::Timer(loop), env::Timer(loop), {}},
      container_{"container", times.container_roll, times.node_activation, env::Timer(loop), env::Timer(loop), {}},
      page_{"page", std::nullopt, {}, env::Timer(loop), env::Timer(loop), {}} {}

std::string KeyRing::RandomKey() {
  std::string key(endpoints::yarn::kMasterKeyBytes, '\0');
  loop_.RandomBytes({reinterpret_cast<uint8_t*>(key.data()), key.size()});
  return key;
}

base::Result<KeyRing::Stored> KeyRing::Load(env::Store& store) {
  auto keys = env::LoadRecords<MasterKeys>(store, kTable);
  if (!keys.ok()) return keys.error();
  for (const auto& [name, of_kind] : *keys) {
    if (of_kind.current.bytes.empty()) {
      return base::Error{"state store " + store.Name() + ": key " + name + " is empty"};
    }
  }
  const auto laid_open = env::LoadRecords<LaidOpen>(store, kLaidOpenTable);
  if (!laid_open.ok()) return laid_open.error();
  return Stored{std::move(*keys), laid_open->empty() ? LaidOpen{} : laid_open->front().second};
}

std::vector<env::Row> KeyRing::Start(const Stored& stored, Attempts running, bool laid_open, Save save) {
  save_ = std::move(save);
  running_ = std::move(running);
  laid_open_ = stored.laid_open;
  std::vector<env::Row> fresh;
  for (Kind* kind : Kinds()) {
    MasterKeys& own = kind->keys;
    bool found = false;
    for (const auto& [name, keys] : stored.keys) {
      if (name != kind->name) continue;
      own = keys;
      found = true;
    }
    own.current.hmac = times_.hmac;
    if (own.next) own.next->hmac = times_.hmac;
    RollLater(*kind);
    if (found) {
      if (laid_open) {
        Replace(*kind);
        fresh.push_back(RowOf(*kind, own));
      }
      // As AMRMTokenSecretManager.recover: masters that have not heard of the next key yet keep theirs for a while.
      if (own.next) ActivateLater(*kind, kind == &amrm_ && AmRmLaidOpen() ? LaidOpenFor() : kind->activation);
      continue;
    }
    int32_t id = 0;
    loop_.RandomBytes({reinterpret_cast<uint8_t*>(&id), sizeof(id)});
    own = MasterKeys{{id, RandomKey(), times_.hmac}, std::nullopt};
    fresh.push_back(RowOf(*kind, own));
  }
  if (laid_open) fresh.push_back({kLaidOpenTable, "", base::EncodeStored(laid_open_)});
  return fresh;
}

base::Duration KeyRing::LaidOpenFor() const {
  return base::Duration::Millis(std::clamp<int64_t>(laid_open_.until.ms - loop_.Wall().ms, 0, kLaidOpenFor.millis()));
}

std::optional<w::FairleadLaidOpenProto> KeyRing::LaidOpenNodeKeys() const {
  if (!laid_open_.node_key) return std::nullopt;
  return w::FairleadLaidOpenProto{.last_nm_key = laid_open_.node_key, .for_ms = LaidOpenFor().millis()};
}

// All keys of a kind lay open, the next one too.
void KeyRing::Replace(Kind& kind) {
  MasterKeys& keys = kind.keys;
  if (&kind == &node_) laid_open_.node_key = keys.newest().id;
  keys.Activate();
  keys.Roll(RandomKey());
  if (&kind == &amrm_) {
    laid_open_.key = keys.current.id;
    laid_open_.until = {loop_.Wall().ms + kLaidOpenFor.millis()};
    return;
  }
  keys.Activate();
  if (kind.roll) keys.Roll(RandomKey());
}

// A key is used only when it is stored: a token made with it outlives this run.
void KeyRing::Roll(Kind& kind) {
  kind.activation_timer.Stop();
  kind.keys.Activate();
  MasterKeys rolled = kind.keys;
  rolled.Roll(RandomKey());
  const env::Row row = RowOf(kind, rolled);
  save_({row}, [this, &kind, rolled = std::move(rolled)] {
    kind.keys = rolled;
    ActivateLater(kind, kind.activation);
    RollLater(kind);
  });
}

void KeyRing::RollLater(Kind& kind) {
  if (kind.roll) kind.roll_timer.After(*kind.roll, [this, &kind] { Roll(kind); });
}

// Not stored: the next run does it again.
void KeyRing::ActivateLater(Kind& kind, base::Duration after) {
  kind.activation_timer.After(after, [&kind] { kind.keys.Activate(); });
}

env::Row KeyRing::RowOf(const Kind& kind, const MasterKeys& keys) {
  return {kTable, kind.name, base::EncodeStored(keys)};
}

RpcToken KeyRing::AmRmToken(const model::ApplicationAttemptId& attempt) const {
  w::AMRMTokenIdentifierProto identifier;
  identifier.app_attempt_id = ToWire(attempt);
  return MintAmRmToken(std::move(identifier), amrm().newest());
}

RpcToken KeyRing::NmRpcToken(const model::ApplicationAttemptId& attempt, const model::rm::NodeAddress& address,
                             const std::string& user) const {
  w::NMTokenIdentifierProto identifier;
  identifier.app_attempt_id = ToWire(attempt);
  identifier.node_id = ToWire(address);
  identifier.app_submitter = user;
  return MintNmToken(std::move(identifier), node().current, ToString(address));
}

std::string KeyRing::PageSecret(const model::ApplicationAttemptId& attempt) const {
  const std::string secret =
      TokenPassword(page_.keys.current.bytes, "page of " + ToString(attempt), endpoints::yarn::TokenHmac::kSha256);
  return wire::hadoop_rpc::EncodeBase64(secret);
}

std::string KeyRing::ClientToMasterKey(const model::ApplicationAttemptId& attempt) const {
  return TokenPassword(page_.keys.current.bytes, "clients of " + ToString(attempt),
                       endpoints::yarn::TokenHmac::kSha256);
}

wire::hadoop_rpc::TokenProto KeyRing::ContainerToken(const model::rm::ContainerInfo& container, model::AppIndex app) {
  const fairlead::rm::App* owner = app.valid() ? core_.AppAt(app) : core_.FindApp(container.id.attempt.app);
  w::ContainerTokenIdentifierProto identifier;
  identifier.container_id = ToWire(container.id);
  identifier.nm_host_addr = ToString(container.address);
  identifier.app_submitter = owner ? owner->submission.user : "";
  identifier.resource = ToWire(container.resources);
  identifier.expiry_time_stamp = loop_.Wall().ms + times_.container_token_life.millis();
  identifier.rm_identifier = core_.cluster_timestamp();
  identifier.priority = endpoints::yarn::PriorityToWire(container.priority);
  identifier.creation_time = container.created.ms;
  if (owner) identifier.log_aggregation_context = LogContextOf(owner->submission.context);
  identifier.node_label_expression = "";
  identifier.container_type =
      container.is_master ? w::ContainerTypeProto::kApplicationMaster : w::ContainerTypeProto::kTask;
  identifier.execution_type = w::ExecutionTypeProto::kGuaranteed;
  identifier.version = container.version;
  identifier.allocation_request_id = container.allocation_request_id;
  return endpoints::yarn::ToWire(
      MintContainerToken(std::move(identifier), container_.keys.current, ToString(container.address)));
}

wire::hadoop_rpc::TokenProto KeyRing::NmToken(const model::ApplicationAttemptId& attempt, model::NodeIndex node,
                                              model::AppIndex app) {
  const fairlead::rm::App* owner = core_.AppAt(app);
  return endpoints::yarn::ToWire(NmRpcToken(attempt, AddressOf(node), owner ? owner->submission.user : ""));
}

wire::yarn::NodeReportProto KeyRing::NodeReport(model::NodeIndex index) {
  const fairlead::rm::Node* node = core_.NodeAt(index);
  return node ? ReportOf(NodeRowOf(*node)) : wire::yarn::NodeReportProto{};
}

model::rm::NodeAddress KeyRing::AddressOf(model::NodeIndex index) {
  const fairlead::rm::Node* node = core_.NodeAt(index);
  return node ? node->address : model::rm::NodeAddress{};
}

base::Result<endpoints::yarn::TokenSecret> KeyRing::Secret(std::string_view identifier) const {
  w::AMRMTokenIdentifierProto token;
  if (!token.ParseFrom(identifier, wire::hadoop_rpc::kTokenIdentifier).ok())
    return base::Error{"The AMRM token cannot be read."};
  const model::ApplicationAttemptId attempt = endpoints::yarn::FromWire(token.AppAttemptId());
  if (!core_.AttemptIsKnown(attempt)) {
    return base::Error{ToString(attempt) + " not found in AMRMTokenSecretManager."};
  }
  const MasterKey* key = amrm().Find(token.KeyId());
  if (key == &amrm().current && AmRmLaidOpen() && !running_.contains(attempt)) key = nullptr;
  if (!key) return base::Error{"Invalid AMRMToken from " + ToString(attempt)};
  return endpoints::yarn::TokenSecret{endpoints::yarn::TokenPassword(*key, identifier), ToString(attempt)};
}

}  // namespace fairlead::process::rm
