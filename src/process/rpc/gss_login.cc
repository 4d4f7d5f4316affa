#include "process/rpc/gss_login.h"

#include <algorithm>
#include <utility>

namespace fairlead::process::rpc {

using wire::hadoop_rpc::LoginStep;
using wire::hadoop_rpc::Protection;
using wire::hadoop_rpc::Protections;
using wire::hadoop_rpc::SaslLayer;

namespace {

constexpr size_t kChoiceBytes = 4;  // the layers' bits, and the longest message that a side takes

class GssLayer final : public SaslLayer {
 public:
  GssLayer(std::unique_ptr<env::GssContext> context, bool privacy) : context_(std::move(context)), privacy_(privacy) {}
  base::Result<std::string> Wrap(std::string_view message) override { return context_->Wrap(message, privacy_); }
  base::Result<std::string> Unwrap(std::string_view wrapped) override { return context_->Unwrap(wrapped, privacy_); }

 private:
  const std::unique_ptr<env::GssContext> context_;
  const bool privacy_;
};

std::string Choice(int bits, size_t longest) {
  std::string out(1, static_cast<char>(bits));
  for (const int shift : {16, 8, 0}) out.push_back(static_cast<char>(longest >> shift));
  return out;
}

/// The login goes on.
LoginStep Send(std::string token) {
  LoginStep step;
  step.token = std::move(token);
  return step;
}

/// What both sides share: the context steps first.
class Login : public GssLogin {
 public:
  Login(std::unique_ptr<env::GssContext> context, Protections protections)
      : context_(std::move(context)), protections_(std::move(protections)) {}

  const std::string& cause() const override { return cause_; }

 protected:
  base::Error Fail(const char* told, std::string cause) {
    cause_ = std::move(cause);
    return base::Error{told};
  }
  /// The last step.
  LoginStep Agreed(std::string token, Protection protection) {
    LoginStep step{std::move(token), true, context_->peer(), nullptr};
    if (protection == Protection::kAuthentication) return step;
    step.layer = std::make_unique<GssLayer>(std::move(context_), protection == Protection::kPrivacy);
    return step;
  }

  std::unique_ptr<env::GssContext> context_;
  const Protections protections_;

 private:
  std::string cause_;
};

class ServerLogin final : public Login {
 public:
  using Login::Login;

  void Step(std::string token, Done done) override {
    switch (stage_) {
      case Stage::kContext:
        return context_->Step(std::move(token), [this, done = std::move(done)](base::Result<env::GssContext::Token> t) {
          done(ContextStepped(std::move(t)));
        });
      case Stage::kOffer:
        return done(token.empty() ? Offer() : Fail("Final handshake step failed", "a token where none belongs"));
      case Stage::kChoice:
        return done(Chosen(token));
    }
  }

 private:
  enum class Stage { kContext, kOffer, kChoice };

  base::Result<LoginStep> ContextStepped(base::Result<env::GssContext::Token> token) {
    if (!token) return Fail("GSS initiate failed", token.error().message);
    if (token->done) stage_ = Stage::kOffer;
    // A client that did not ask who we are gets no token, and goes on at once.
    if (token->done && token->bytes.empty()) return Offer();
    return Send(std::move(token->bytes));
  }

  base::Result<LoginStep> Offer() {
    int bits = 0;
    for (const Protection offered : protections_) bits |= static_cast<int>(offered);
    base::Result<std::string> wrapped = context_->Wrap(Choice(bits, wire::hadoop_rpc::kWrappedMax), false);
    if (!wrapped) return Fail("Problem wrapping handshake1", wrapped.error().message);
    stage_ = Stage::kChoice;
    return Send(std::move(*wrapped));
  }

  base::Result<LoginStep> Chosen(std::string_view token) {
    const base::Result<std::string> choice = context_->Unwrap(token, false);
    if (!choice) return Fail("Final handshake step failed", choice.error().message);
    if (choice->size() < kChoiceBytes) return Fail("Final handshake step failed", "the choice of a protection is cut");
    const auto chosen = std::find_if(protections_.begin(), protections_.end(),
                                     [&](Protection offered) { return static_cast<char>(offered) == (*choice)[0]; });
    const std::string_view as = std::string_view(*choice).substr(kChoiceBytes);
    if (chosen == protections_.end()) return Fail("Problem with callback handler", "a protection that is not offered");
    if (!as.empty() && as != context_->peer()) {
      return Fail("Problem with callback handler", context_->peer() + " would be somebody else");
    }
    return Agreed("", *chosen);
  }

  Stage stage_ = Stage::kContext;
};

class ClientLogin final : public Login {
 public:
  using Login::Login;

  void Step(std::string token, Done done) override {
    if (context_done_) return done(Choose(token));
    context_->Step(std::move(token), [this, done = std::move(done)](base::Result<env::GssContext::Token> t) {
      if (!t) return done(base::Error{t.error().message});
      context_done_ = t->done;
      done(Send(std::move(t->bytes)));
    });
  }

 private:
  base::Result<LoginStep> Choose(std::string_view token) {
    const base::Result<std::string> offered = context_->Unwrap(token, false);
    if (!offered || offered->size() != kChoiceBytes) return base::Error{"the server's offer of protections is broken"};
    const auto chosen = std::find_if(protections_.begin(), protections_.end(), [&](Protection wanted) {
      return (static_cast<int>(wanted) & (*offered)[0]) != 0;
    });
    if (chosen == protections_.end()) {
      return base::Error{
          "No common protection layer between client and server; hadoop.rpc.protection has to name one that both have"};
    }
    const bool layer = *chosen != Protection::kAuthentication;
    base::Result<std::string> wrapped =
        context_->Wrap(Choice(static_cast<int>(*chosen), layer ? wire::hadoop_rpc::kWrappedMax : 0), false);
    if (!wrapped) return wrapped.error();
    return Agreed(std::move(*wrapped), *chosen);
  }

  bool context_done_ = false;
};

}  // namespace

std::unique_ptr<GssLogin> GssLogin::OfServer(env::Gss& gss, const std::string& address, const Protections& offered) {
  return std::make_unique<ServerLogin>(gss.Accept(address), offered);
}

std::unique_ptr<GssLogin> GssLogin::OfClient(env::Gss& gss, const std::string& principal, const std::string& host,
                                             const Protections& wanted) {
  return std::make_unique<ClientLogin>(gss.Initiate(principal, host), wanted);
}

}  // namespace fairlead::process::rpc
