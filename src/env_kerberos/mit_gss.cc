#include "env_kerberos/mit_gss.h"

#include <gssapi/gssapi.h>
#include <gssapi/gssapi_ext.h>
#include <gssapi/gssapi_krb5.h>
#include <krb5.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstring>
#include <utility>
#include <vector>

#include "env/server_pattern.h"
#include "env_kerberos/step_thread.h"

namespace fairlead::env_kerberos {
namespace {

constexpr size_t kTokenMax = 64 << 10;  // a ticket with the groups of a large directory is some 12 KiB

gss_buffer_desc View(std::string_view text) { return {text.size(), const_cast<char*>(text.data())}; }

/// A buffer that the library has filled.
class Buffer {
 public:
  Buffer() = default;
  ~Buffer() {
    OM_uint32 minor = 0;
    gss_release_buffer(&minor, &buffer_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  gss_buffer_t get() { return &buffer_; }
  std::string Text() const { return {static_cast<const char*>(buffer_.value), buffer_.length}; }

 private:
  gss_buffer_desc buffer_ = GSS_C_EMPTY_BUFFER;
};

class Name {
 public:
  Name() = default;
  ~Name() {
    OM_uint32 minor = 0;
    if (name_ != GSS_C_NO_NAME) gss_release_name(&minor, &name_);
  }
  Name(const Name&) = delete;
  Name& operator=(const Name&) = delete;
  gss_name_t* out() { return &name_; }
  gss_name_t get() const { return name_; }

 private:
  gss_name_t name_ = GSS_C_NO_NAME;
};

void AddWords(std::string& out, OM_uint32 status, int type) {
  OM_uint32 context = 0;
  do {
    Buffer words;
    OM_uint32 minor = 0;
    if (gss_display_status(&minor, status, type, gss_mech_krb5, &context, words.get()) != GSS_S_COMPLETE) return;
    out += (out.empty() ? "" : ": ") + words.Text();
  } while (context != 0);
}

/// What the library says of a call that failed.
base::Error Failed(OM_uint32 major, OM_uint32 minor) {
  std::string words;
  AddWords(words, major, GSS_C_GSS_CODE);
  if (minor != 0) AddWords(words, minor, GSS_C_MECH_CODE);
  return base::Error{words.empty() ? "Kerberos failed" : words};
}

base::Status Import(const std::string& principal, Name& name) {
  gss_buffer_desc text = View(principal);
  OM_uint32 minor = 0;
  const OM_uint32 major = gss_import_name(&minor, &text, GSS_KRB5_NT_PRINCIPAL_NAME, name.out());
  if (major != GSS_S_COMPLETE) return Failed(major, minor);
  return {};
}

using Credential = std::shared_ptr<gss_cred_id_struct>;

constexpr char kAnyService[] = "*";

/// iso.org.dod.internet.security.mechanism.snego
const gss_OID_desc kSpnego{6, const_cast<char*>("\x2b\x06\x01\x05\x05\x02")};

base::Result<Credential> Acquire(const std::string& principal, gss_cred_usage_t usage,
                                 std::vector<gss_key_value_element_desc> store, bool negotiates = false) {
  Name name;
  if (principal != kAnyService) {
    if (base::Status imported = Import(principal, name); !imported.ok()) return imported.error();
  }
  gss_key_value_set_desc where{static_cast<OM_uint32>(store.size()), store.data()};
  std::vector<gss_OID_desc> kinds{*gss_mech_krb5};
  if (negotiates) kinds.push_back(kSpnego);
  gss_OID_set_desc mechanisms{kinds.size(), kinds.data()};
  gss_cred_id_t credential = GSS_C_NO_CREDENTIAL;
  OM_uint32 minor = 0;
  const OM_uint32 major = gss_acquire_cred_from(&minor, name.get(), GSS_C_INDEFINITE, &mechanisms, usage, &where,
                                                &credential, nullptr, nullptr);
  if (major != GSS_S_COMPLETE) return Failed(major, minor);
  return Credential(credential, [](gss_cred_id_t held) {
    OM_uint32 ignored = 0;
    gss_release_cred(&ignored, &held);
  });
}

/// What a step needs, on whichever thread; the context's owner may be gone meanwhile.
struct ContextState {
  ~ContextState() {
    OM_uint32 minor = 0;
    if (context != GSS_C_NO_CONTEXT) gss_delete_sec_context(&minor, &context, GSS_C_NO_BUFFER);
  }
  gss_ctx_id_t context = GSS_C_NO_CONTEXT;
  Credential credential;  // null: the default one
  std::string peer;
  OM_uint32 flags = 0;
  std::atomic<bool> dropped = false;
  bool any_service = false;  // of the keytab, if it is HTTP's
  // Of an initiator:
  std::string principal;
  std::string host;
  std::string keytab;
  std::string own;    // principal
  std::string cache;  // of its tickets
};

/// The ticket was for HTTP/HOST: the keytab may have other services' keys.
base::Status ExpectWebService(gss_ctx_id_t context) {
  Name service;
  OM_uint32 minor = 0;
  const OM_uint32 major =
      gss_inquire_context(&minor, context, nullptr, service.out(), nullptr, nullptr, nullptr, nullptr, nullptr);
  if (major != GSS_S_COMPLETE) return Failed(major, minor);
  Buffer name;
  const OM_uint32 shown = gss_display_name(&minor, service.get(), name.get(), nullptr);
  if (shown != GSS_S_COMPLETE) return Failed(shown, minor);
  if (!name.Text().starts_with("HTTP/")) return base::Error{"a ticket for " + name.Text() + ", which is no web server"};
  return {};
}

base::Result<env::GssContext::Token> AcceptStep(ContextState& state, const std::string& token) {
  Buffer out;
  Name client;
  gss_buffer_desc in = View(token);
  OM_uint32 minor = 0;
  const OM_uint32 major =
      gss_accept_sec_context(&minor, &state.context, state.credential.get(), &in, GSS_C_NO_CHANNEL_BINDINGS,
                             client.out(), nullptr, out.get(), &state.flags, nullptr, nullptr);
  if (GSS_ERROR(major)) return Failed(major, minor);
  if ((major & GSS_S_CONTINUE_NEEDED) != 0) return env::GssContext::Token{out.Text(), false};
  Buffer name;
  const OM_uint32 shown = gss_display_name(&minor, client.get(), name.get(), nullptr);
  if (shown != GSS_S_COMPLETE) return Failed(shown, minor);
  if (state.any_service) {
    if (base::Status web = ExpectWebService(state.context); !web.ok()) return web.error();
  }
  state.peer = name.Text();
  return env::GssContext::Token{out.Text(), true};
}

/// The realm of a host as krb5.conf has it ([domain_realm]), else the default one, as in Java.
base::Result<std::string> RealmOf(const std::string& host) {
  krb5_context context = nullptr;
  if (krb5_init_context(&context) != 0) return base::Error{"krb5.conf cannot be read"};
  char** realms = nullptr;
  std::string realm;
  if (krb5_get_host_realm(context, host.c_str(), &realms) == 0) {
    if (realms[0] != nullptr) realm = realms[0];
    krb5_free_host_realm(context, realms);
  }
  krb5_free_context(context);
  return realm.empty() ? DefaultRealm() : realm;
}

/// As env::Gss::Initiate.
base::Result<std::string> ServerOf(const std::string& principal, const std::string& host) {
  if (!env::IsServerPattern(principal)) return WithHost(principal, host);
  return env::FittingServer(principal, host, RealmOf);
}

base::Result<env::GssContext::Token> InitiateStep(ContextState& state, const std::string& token) {
  if (state.peer.empty()) {
    base::Result<std::string> peer = ServerOf(state.principal, state.host);
    if (!peer.ok()) return peer.error();
    state.peer = std::move(*peer);
    if (!state.keytab.empty()) {
      // A fresh ticket of its own when the last one is about to end: the library sees to that.
      base::Result<Credential> own = Acquire(
          state.own, GSS_C_INITIATE, {{"client_keytab", state.keytab.c_str()}, {"ccache", state.cache.c_str()}});
      if (!own.ok()) return own.error();
      state.credential = std::move(*own);
    }
  }
  Name server;
  if (base::Status imported = Import(state.peer, server); !imported.ok()) return imported.error();
  Buffer out;
  gss_buffer_desc in = View(token);
  OM_uint32 minor = 0;
  constexpr OM_uint32 kWanted =
      GSS_C_MUTUAL_FLAG | GSS_C_REPLAY_FLAG | GSS_C_SEQUENCE_FLAG | GSS_C_INTEG_FLAG | GSS_C_CONF_FLAG;
  const OM_uint32 major =
      gss_init_sec_context(&minor, state.credential.get(), &state.context, server.get(), gss_mech_krb5, kWanted, 0,
                           GSS_C_NO_CHANNEL_BINDINGS, &in, nullptr, out.get(), &state.flags, nullptr);
  if (GSS_ERROR(major)) return Failed(major, minor);
  const bool done = (major & GSS_S_CONTINUE_NEEDED) == 0;
  if (done && (state.flags & GSS_C_MUTUAL_FLAG) == 0) return base::Error{"the server has not shown who it is"};
  return env::GssContext::Token{out.Text(), done};
}

class MitContext final : public env::GssContext {
 public:
  using StepFunction = base::Result<Token> (*)(ContextState&, const std::string&);
  /// `address`: in whose turn the steps are done.
  MitContext(StepThread& thread, env::Loop& loop, std::string address, std::shared_ptr<ContextState> state,
             StepFunction step)
      : thread_(thread), loop_(loop), address_(std::move(address)), state_(std::move(state)), step_(step) {}
  ~MitContext() override { state_->dropped = true; }

  void Step(std::string token, Done done) override {
    const auto say = [state = state_, done = std::move(done)](base::Result<Token> result) {
      if (!state->dropped) done(std::move(result));
    };
    const auto refuse = [&](const char* why) { loop_.Post([say, why] { say(base::Error{why}); }); };
    if (token.size() > kTokenMax) return refuse("the token is too long");
    StepThread::Work work = [state = state_, step = step_, token = std::move(token), say] {
      base::Result<Token> result = state->dropped ? base::Error{"dropped"} : step(*state, token);
      return env::Loop::Callback([say, result = std::move(result)] { say(result); });
    };
    thread_.Do(address_, std::move(work), [say] { say(base::Error{"too many logins wait"}); });
  }

  const std::string& peer() const override { return state_->peer; }

  base::Result<std::string> Wrap(std::string_view message, bool confidential) override {
    gss_buffer_desc in = View(message);
    Buffer out;
    OM_uint32 minor = 0;
    int sealed = 0;
    const OM_uint32 major =
        gss_wrap(&minor, state_->context, confidential ? 1 : 0, GSS_C_QOP_DEFAULT, &in, &sealed, out.get());
    if (major != GSS_S_COMPLETE) return Failed(major, minor);
    if (confidential && sealed == 0) return base::Error{"the ticket's kind of encryption gives no privacy"};
    return out.Text();
  }

  base::Result<std::string> Unwrap(std::string_view wrapped, bool confidential) override {
    gss_buffer_desc in = View(wrapped);
    Buffer out;
    OM_uint32 minor = 0;
    int sealed = 0;
    // Not GSS_S_COMPLETE alone is repeated, old or out of turn.
    const OM_uint32 major = gss_unwrap(&minor, state_->context, &in, out.get(), &sealed, nullptr);
    if (major != GSS_S_COMPLETE) return Failed(major, minor);
    if (confidential && sealed == 0) return base::Error{"a message that others can read came where none may"};
    return out.Text();
  }

 private:
  StepThread& thread_;
  env::Loop& loop_;
  const std::string address_;
  const std::shared_ptr<ContextState> state_;
  const StepFunction step_;
};

class MitGss final : public env::Gss {
 public:
  MitGss(env::Loop& loop, GssIdentity identity, Credential acceptor)
      : loop_(loop), identity_(std::move(identity)), acceptor_(std::move(acceptor)), accepts_(loop), initiates_(loop) {
    static std::atomic<int> last = 0;
    cache_ = "MEMORY:fairlead-" + std::to_string(++last);
  }

  std::unique_ptr<env::GssContext> Accept(const std::string& address) override {
    auto state = std::make_shared<ContextState>();
    state->credential = acceptor_;
    state->any_service = identity_.principal == kAnyService;
    return std::make_unique<MitContext>(accepts_, loop_, address, std::move(state), AcceptStep);
  }

  std::unique_ptr<env::GssContext> Initiate(const std::string& principal, const std::string& host) override {
    auto state = std::make_shared<ContextState>();
    state->principal = principal;
    state->host = host;
    state->keytab = identity_.keytab;
    state->own = identity_.principal;
    state->cache = cache_;
    return std::make_unique<MitContext>(initiates_, loop_, host, std::move(state), InitiateStep);
  }

 private:
  env::Loop& loop_;
  const GssIdentity identity_;
  const Credential acceptor_;  // null: there is no keytab
  std::string cache_;
  StepThread accepts_;
  StepThread initiates_;
};

/// The name of an address as the resolver has it, in lower case.
std::string HostName(std::string host) {
  if (host.empty() || host == "0.0.0.0" || host == "::") {
    char own[256] = {};
    ::gethostname(own, sizeof own - 1);
    host = own;
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), nullptr, &hints, &found) == 0) {
    char name[NI_MAXHOST];
    if (::getnameinfo(found->ai_addr, found->ai_addrlen, name, sizeof name, nullptr, 0, NI_NAMEREQD) == 0) host = name;
    ::freeaddrinfo(found);
  }
  std::transform(host.begin(), host.end(), host.begin(), [](unsigned char c) { return std::tolower(c); });
  return host;
}

}  // namespace

std::string WithHost(const std::string& principal, const std::string& host) {
  constexpr std::string_view kHost = "/_HOST@";
  const size_t at = principal.find(kHost);
  if (at == std::string::npos || principal.find('/') != at) return principal;
  return principal.substr(0, at + 1) + HostName(host) + principal.substr(at + kHost.size() - 1);
}

base::Result<std::string> DefaultRealm() {
  krb5_context context = nullptr;
  if (krb5_init_context(&context) != 0) return base::Error{"krb5.conf cannot be read"};
  char* realm = nullptr;
  const krb5_error_code error = krb5_get_default_realm(context, &realm);
  base::Result<std::string> result = base::Error{"krb5.conf has no default_realm"};
  if (error == 0) result = std::string(realm);
  if (error == 0) krb5_free_default_realm(context, realm);
  krb5_free_context(context);
  return result;
}

base::Result<std::unique_ptr<env::Gss>> MakeGss(env::Loop& loop, const GssIdentity& identity) {
  Credential acceptor;
  if (!identity.keytab.empty()) {
    base::Result<Credential> acquired =
        Acquire(identity.principal, GSS_C_ACCEPT, {{"keytab", identity.keytab.c_str()}}, identity.negotiates);
    if (!acquired.ok()) {
      return base::Error{"keytab " + identity.keytab + " cannot be used for " + identity.principal + ": " +
                         acquired.error().message};
    }
    acceptor = std::move(*acquired);
  }
  return std::unique_ptr<env::Gss>(std::make_unique<MitGss>(loop, identity, std::move(acceptor)));
}

}  // namespace fairlead::env_kerberos
