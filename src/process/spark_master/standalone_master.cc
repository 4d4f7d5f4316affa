#include "process/spark_master/standalone_master.h"

#include <utility>

namespace fairlead::process::spark_master {

StandaloneMaster::StandaloneMaster(env::Loop& loop, env::Net& net, env::Log& log, Options options)
    : loop_(loop), net_(net), log_(log), options_(std::move(options)) {}

StandaloneMaster::~StandaloneMaster() { End(); }

base::Status StandaloneMaster::LeadAlone(std::unique_ptr<env::Store> store, StandaloneState imported) {
  store_ = std::move(store);
  return Begin(false, std::move(imported));
}

base::Status StandaloneMaster::Join(std::unique_ptr<env::Elector> elector) {
  elector_ = std::move(elector);
  if (const base::Status begun = Begin(true, {}); !begun.ok()) return begun;
  env::Elector::Listener listener;
  listener.elected = [this](std::unique_ptr<env::Store> store) { Elected(std::move(store)); };
  listener.deposed = [this](const std::string& why) { Deposed(why); };
  listener.confirmed = [] {};  // what could not be done meanwhile has made it step down
  listener.refused = [this](const base::Error& why) { options_.on_over(why.message); };
  listener.notice = [this](const std::string& what) { log_.Info(what); };
  listener.warning = [this](const std::string& what) { log_.Warn(what); };
  elector_->Start(std::move(listener));
  return {};
}

/// A master on the same port, in another role.
base::Status StandaloneMaster::Begin(bool standby, StandaloneState imported) {
  StandaloneSettings cluster = options_.cluster;
  cluster.standby = standby;
  cluster.on_store_lost = [this](const std::string& why) { elector_ ? StepDown() : options_.on_over(why); };
  SparkMasterSettings master = options_.master;
  if (elector_ && !standby) {
    master.may_act = [this] { return elector_->MayAct(); };
    master.on_lapsed = [this] { StepDown(); };
  }
  cluster_ =
      std::make_unique<StandaloneCluster>(loop_, standby ? nullptr : store_.get(), log_, options_.master.builds.front(),
                                          std::move(cluster), std::move(imported));
  auto begun = SparkMaster::Start(loop_, net_, log_, std::move(master), *cluster_);
  if (!begun.ok()) return begun.error();
  master_ = std::move(*begun);
  options_.master.listen.port = local().port;
  return {};
}

void StandaloneMaster::End() {
  master_.reset();
  cluster_.reset();
  store_.reset();
}

void StandaloneMaster::Elected(std::unique_ptr<env::Store> store) {
  End();
  store_ = std::move(store);
  stepping_down_ = false;
  log_.Info("this master leads", {{"store", store_->Name()}});
  const base::Status begun = Begin(false, {});
  if (!begun.ok()) options_.on_over("it was elected and cannot lead: " + begun.error().message);
}

void StandaloneMaster::Deposed(const std::string& why) {
  log_.Warn("this master stands by", {{"why", why}});
  End();
  const base::Status begun = Begin(true, {});
  if (!begun.ok()) options_.on_over("it was deposed and cannot stand by: " + begun.error().message);
}

void StandaloneMaster::StepDown() {
  if (!std::exchange(stepping_down_, true)) elector_->Yield();
}

}  // namespace fairlead::process::spark_master
