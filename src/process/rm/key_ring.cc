#include "process/rm/key_ring.h"

#include <span>
#include <utility>

#include "base/stored.h"
#include "endpoints/yarn/rm_convert.h"
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
}

KeyRing::KeyRing(env::Loop& loop, const fairlead::rm::Core& core, KeyTimes times)
    : loop_(loop), core_(core), times_(times) {}

KeyRing::~KeyRing() {
  loop_.Cancel(roll_timer_);
  for (const env::Loop::TimerId timer : activations_) loop_.Cancel(timer);
}

std::vector<KeyRing::Kind> KeyRing::Kinds() {
  return {{"amrm", &amrm_, times_.master_activation},
          {"nm", &node_, times_.node_activation},
          {"container", &container_, times_.node_activation},
          {"page", &page_, std::nullopt}};
}

std::string KeyRing::RandomKey() {
  std::string key(endpoints::yarn::kMasterKeyBytes, '\0');
  loop_.RandomBytes({reinterpret_cast<uint8_t*>(key.data()), key.size()});
  return key;
}

base::Result<KeyRing::Stored> KeyRing::Load(env::Store& store) {
  base::Result<Stored> stored = env::LoadRecords<MasterKeys>(store, kTable);
  if (!stored.ok()) return stored;
  for (const auto& [name, keys] : *stored) {
    if (keys.current.bytes.empty()) return base::Error{"state store " + store.Name() + ": key " + name + " is empty"};
  }
  return stored;
}

std::vector<env::Row> KeyRing::Start(const Stored& stored, Save save) {
  save_ = std::move(save);
  std::vector<env::Row> fresh;
  for (const Kind& kind : Kinds()) {
    bool found = false;
    for (const auto& [name, keys] : stored) {
      if (name != kind.name) continue;
      *kind.keys = keys;
      found = true;
    }
    kind.keys->current.hmac = times_.hmac;
    if (kind.keys->next) kind.keys->next->hmac = times_.hmac;
    if (found) {
      // As AMRMTokenSecretManager.recover: masters that have not heard of the next key yet keep theirs for a while.
      if (kind.keys->next) ActivateLater(kind);
      continue;
    }
    int32_t id = 0;
    loop_.RandomBytes({reinterpret_cast<uint8_t*>(&id), sizeof(id)});
    *kind.keys = MasterKeys{{id, RandomKey(), times_.hmac}, std::nullopt};
    fresh.push_back(RowOf(kind, *kind.keys));
  }
  roll_timer_ = loop_.After(times_.roll, [this] { Roll(); });
  return fresh;
}

// A key is used only when it is stored: a token made with it outlives this run.
void KeyRing::Roll() {
  for (const env::Loop::TimerId timer : activations_) loop_.Cancel(timer);
  activations_.clear();
  std::vector<MasterKeys> rolled;
  std::vector<env::Row> rows;
  std::vector<Kind> kinds = Kinds();
  std::erase_if(kinds, [](const Kind& kind) { return !kind.activation; });
  for (const Kind& kind : kinds) {
    if (kind.keys->next) kind.keys->Activate();
    rolled.push_back(*kind.keys);
    rolled.back().Roll(RandomKey());
    rows.push_back(RowOf(kind, rolled.back()));
  }
  save_(std::move(rows), [this, kinds, rolled = std::move(rolled)] {
    for (size_t i = 0; i < kinds.size(); ++i) {
      *kinds[i].keys = rolled[i];
      ActivateLater(kinds[i]);
    }
    roll_timer_ = loop_.After(times_.roll, [this] { Roll(); });
  });
}

// Not stored: the next run does it again.
void KeyRing::ActivateLater(const Kind& kind) {
  activations_.push_back(loop_.After(*kind.activation, [keys = kind.keys] {
    if (keys->next) keys->Activate();
  }));
}

env::Row KeyRing::RowOf(const Kind& kind, const MasterKeys& keys) {
  return {kTable, kind.name, base::EncodeStored(keys)};
}

RpcToken KeyRing::AmRmToken(const model::ApplicationAttemptId& attempt) const {
  w::AMRMTokenIdentifierProto identifier;
  identifier.app_attempt_id = ToWire(attempt);
  return MintAmRmToken(std::move(identifier), amrm_.newest());
}

RpcToken KeyRing::NmRpcToken(const model::ApplicationAttemptId& attempt, const model::rm::NodeAddress& address,
                             const std::string& user) const {
  w::NMTokenIdentifierProto identifier;
  identifier.app_attempt_id = ToWire(attempt);
  identifier.node_id = ToWire(address);
  identifier.app_submitter = user;
  return MintNmToken(std::move(identifier), node_.current, ToString(address));
}

std::string KeyRing::PageSecret(const model::ApplicationAttemptId& attempt) const {
  const std::string secret =
      TokenPassword(page_.current.bytes, "page of " + ToString(attempt), endpoints::yarn::TokenHmac::kSha256);
  return wire::hadoop_rpc::EncodeBase64(secret);
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
  identifier.node_label_expression = "";
  identifier.container_type =
      container.is_master ? w::ContainerTypeProto::kApplicationMaster : w::ContainerTypeProto::kTask;
  identifier.execution_type = w::ExecutionTypeProto::kGuaranteed;
  identifier.version = container.version;
  identifier.allocation_request_id = container.allocation_request_id;
  return endpoints::yarn::ToWire(
      MintContainerToken(std::move(identifier), container_.current, ToString(container.address)));
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
  const MasterKey* key = amrm_.Find(token.KeyId());
  if (!key) return base::Error{"Invalid AMRMToken from " + ToString(attempt)};
  return endpoints::yarn::TokenSecret{endpoints::yarn::TokenPassword(*key, identifier), ToString(attempt)};
}

}  // namespace fairlead::process::rm
