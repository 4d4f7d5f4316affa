#include "shell/tls/tls.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include "env/log.h"
#include "env/timer.h"
#include "env_posix/posix_loop.h"
#include "env_posix/test_directory.h"
#include "shell/tls/web_tls.h"

namespace fairlead::shell {
namespace {

using config::HadoopConf;

/// keytool -genkeypair -alias rm -keyalg EC -storetype JKS -storepass changeit -keypass secret1
std::string KeytoolsStore() {
  const std::string text =
      "/u3+7QAAAAIAAAABAAAAAQACcm0AAAGiJOJ1MAAAAH8wfTAOBgorBgEEASoCEQEBBQAEa19/8/fNkKd4IlrY7LKPAXjvAzkWDA9E"
      "xku8T/SIRc6a1D2n2BPinUQSmS+w0nrkidJM34OJ0a971C2bhgblbR6SBArKN88UihujjH+Xe3McEBH8lObjbe996Ug1QrlyfCZy"
      "Lwt4Vw2PAfPWAAAAAQAFWC41MDkAAAFiMIIBXjCCAQOgAwIBAgIINarag+/IP6owCgYIKoZIzj0EAwIwFDESMBAGA1UEAxMJbG9j"
      "YWxob3N0MCAXDTI2MTEyOTAxMTkxMFoYDzIxMjYxMTA1MDExOTEwWjAUMRIwEAYDVQQDEwlsb2NhbGhvc3QwWTATBgcqhkjOPQIB"
      "BggqhkjOPQMBBwNCAARmJbXVNG+2rKDkl4CY69EvY2VfbY5+JqTG/4dwwFgwdZfvYQZ6yl+twqHy0DQrTxcOH9VXCGpw/1kKp55d"
      "Ag+yoz0wOzAdBgNVHQ4EFgQUBM20RY+F5TmIXI8RbMzGD7fa0wYwGgYDVR0RBBMwEYIJbG9jYWxob3N0hwR/AAABMAoGCCqGSM49"
      "BAMCA0kAMEYCIQC0DxPYA+bSeE5hJy8FP12vlfh0AtyaEni7HCfFqbgA1AIhAKGRtu7k/AdCKGBWIDtpRDGYZXeKquzCa6oE4u9N"
      "M89leiTs0u3aGL66Pw572DSRwSPGJa4=";
  std::string out(text.size(), '\0');
  ::EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()), reinterpret_cast<const unsigned char*>(text.data()),
                    static_cast<int>(text.size()));
  out.resize(text.size() / 4 * 3 - static_cast<size_t>(std::count(text.begin(), text.end(), '=')));
  return out;
}

TEST(Tls, PagesAreHttpUnlessThePolicySaysOtherwise) {
  HadoopConf conf;
  EXPECT_EQ(WebScheme(conf), "http://");
  EXPECT_EQ(WebAddressKey(conf, "yarn.nodemanager.webapp"), "yarn.nodemanager.webapp.address");
  conf.Set("yarn.http.policy", "HTTPS_ONLY");
  EXPECT_EQ(WebScheme(conf), "https://");
  EXPECT_EQ(WebAddressKey(conf, "yarn.nodemanager.webapp"), "yarn.nodemanager.webapp.https.address");
  conf.Set("yarn.http.policy", "https_only");
  EXPECT_EQ(WebScheme(conf), "https://");
  conf.Set("yarn.http.policy", "Http_Only");
  EXPECT_EQ(WebScheme(conf), "http://");
  EXPECT_TRUE(conf.errors().empty());
  conf.Set("yarn.http.policy", "HTTP_AND_HTTPS");
  EXPECT_FALSE(IsHttpsOnly(conf));
  EXPECT_NE(conf.ErrorText().find("HTTP_AND_HTTPS is not supported: YARN's daemons have one web port each"),
            std::string::npos);
}

TEST(Tls, HttpsWithoutAKeySaysWhatToWrite) {
  HadoopConf conf;
  conf.Set("yarn.http.policy", "HTTPS_ONLY");
  EXPECT_TRUE(ReadServerTls(conf).paths.empty());
  EXPECT_NE(conf.ErrorText().find("ssl.server.keystore.location"), std::string::npos);
  EXPECT_NE(conf.ErrorText().find("fairlead.tls.certificate"), std::string::npos);
}

TEST(Tls, FairleadsOwnKeysGoBeforeHadoopsStore) {
  HadoopConf conf;
  conf.Set("yarn.http.policy", "HTTPS_ONLY");
  conf.Set("ssl.server.keystore.location", "/etc/keystore.jks");
  conf.Set("ssl.server.keystore.password", "store");
  conf.Set("ssl.server.keystore.keypassword", "key");
  conf.Set("ssl.server.exclude.cipher.list", "A,B");
  TlsFiles files = ReadServerTls(conf);
  EXPECT_EQ(files.paths, std::vector<std::string>{"/etc/keystore.jks"});
  EXPECT_EQ(files.password + "," + files.key_password + "," + files.excluded, "store,key,A,B");
  conf.Set("fairlead.tls.certificate", "/etc/rm.crt");
  conf.Set("fairlead.tls.key", "/etc/rm.key");
  files = ReadServerTls(conf);
  EXPECT_EQ(files.paths, (std::vector<std::string>{"/etc/rm.crt", "/etc/rm.key"}));
  EXPECT_EQ(files.password, "");
  EXPECT_TRUE(conf.errors().empty()) << conf.ErrorText();
}

TEST(Tls, APasswordOfACredentialProviderIsRefusedByName) {
  HadoopConf conf;
  conf.Set("yarn.http.policy", "HTTPS_ONLY");
  conf.Set("ssl.server.keystore.location", "/etc/keystore.jks");
  conf.Set("hadoop.security.credential.provider.path", "jceks://file/etc/passwords");
  ReadServerTls(conf);
  EXPECT_NE(conf.ErrorText().find("write ssl.server.keystore.password"), std::string::npos) << conf.ErrorText();
}

/// What OpenServerTls says of this file.
std::string Fault(const std::string& bytes, const std::map<std::string, std::string>& keys) {
  const auto directory = std::filesystem::temp_directory_path() / "fairlead_tls_test";
  std::filesystem::create_directories(directory);
  const std::string path = directory / ("store" + std::to_string(::getpid()));
  std::filesystem::remove(path);
  if (!bytes.empty()) std::ofstream(path, std::ios::binary) << bytes;
  HadoopConf conf;
  conf.Set("ssl.server.keystore.location", path);
  for (const auto& [key, value] : keys) conf.Set(key, value == "FILE" ? path : value);
  const auto disk = env_posix::MakePosixDisk();
  const auto opened = OpenServerTls(ReadServerTls(conf), *disk);
  std::filesystem::remove(path);
  if (opened.ok()) return "";
  std::string text = opened.error().message;
  for (size_t at = text.find(path); at != text.npos; at = text.find(path)) text.replace(at, path.size(), "FILE");
  return text;
}

TEST(Tls, AFileThatCannotBeOpenedIsNamedWithItsKeysAndWhatToDo) {
  const std::string password = "ssl.server.keystore.password", key_password = "ssl.server.keystore.keypassword";
  EXPECT_EQ(Fault("", {}).substr(0, 35), "ssl.server.keystore.location: open ") << Fault("", {});
  const std::string jks = KeytoolsStore();
  EXPECT_EQ(Fault(jks, {{password, "wrong"}, {key_password, "secret1"}}),
            "ssl.server.keystore.location: FILE: the password is another one, or the file was changed; is "
            "ssl.server.keystore.password right? 'keytool -list -keystore FILE' asks for it");
  EXPECT_EQ(Fault(jks, {{password, "changeit"}}),
            "ssl.server.keystore.location: FILE, key rm: the key's password is another one; "
            "ssl.server.keystore.keypassword is not set, and ssl.server.keystore.password does not open it");
  EXPECT_EQ(Fault(jks, {{password, "changeit"}, {key_password, "wrong"}}),
            "ssl.server.keystore.location: FILE, key rm: the key's password is another one; is "
            "ssl.server.keystore.keypassword right?");
  EXPECT_EQ(Fault(jks, {}),
            "ssl.server.keystore.location: FILE, key rm: the key's password is another one; "
            "ssl.server.keystore.password is not set");
  EXPECT_EQ(Fault("-----BEGIN ENCRYPTED PRIVATE KEY-----\nMA==\n-----END ENCRYPTED PRIVATE KEY-----\n",
                  {{"fairlead.tls.certificate", "FILE"}}),
            "fairlead.tls.certificate: FILE: the private key cannot be read: nested asn1 error; it has a password, for "
            "which there "
            "is no key here; 'openssl pkey -in FILE -out NEW' writes one without");
}

// FileBasedKeyStoresFactory: an interval of 0 means never.
TEST(Tls, KeysOfReloadingThatDoNotWhatTheySeemToAreNamed) {
  HadoopConf conf;
  conf.Set("ssl.server.keystore.location", "/etc/keystore.jks");
  EXPECT_TRUE(ReadServerTls(conf).warnings.empty());
  conf.Set("ssl.server.truststore.location", "/etc/truststore.jks");
  conf.Set("ssl.server.truststore.reload.interval", "5000");
  conf.Set("ssl.server.stores.reload.interval", "0");
  EXPECT_EQ(
      ReadServerTls(conf).warnings,
      (std::vector<std::string>{
          "ssl.server.stores.reload.interval is 0: a changed certificate counts from the next start on, as in Hadoop",
          "ssl.server.truststore.* has no effect: clients are asked for no certificates; when changed files are "
          "looked at is ssl.server.stores.reload.interval"}));
  conf.Set("ssl.server.stores.reload.interval", "-1");
  EXPECT_EQ(ReadServerTls(conf).look, base::Duration());
  EXPECT_TRUE(conf.errors().empty()) << conf.ErrorText();
}

/// Ends the loop when something is logged.
class OneLine final : public env::Log {
 public:
  explicit OneLine(env_posix::PosixLoop& loop) : loop_(loop) {}
  void Write(env::LogLevel, std::string_view what, const Fields&) override {
    said = what;
    loop_.Stop();
  }
  std::string said;

 private:
  env_posix::PosixLoop& loop_;
};

// Where secrets are mounted the file is a link below a link, and the link in the middle is what changes.
TEST(Tls, AStoreBehindALinkThatLeadsElsewhereHasChanged) {
  const env_posix::TestDirectory directory;
  for (const auto& [name, bytes] : {std::pair("one", KeytoolsStore()), std::pair("two", std::string("junk"))}) {
    std::filesystem::create_directory(directory / name);
    std::ofstream(directory / name + "/keystore.jks", std::ios::binary) << bytes;
    std::filesystem::permissions(directory / name + "/keystore.jks", std::filesystem::perms::owner_read);
  }
  std::filesystem::create_directory_symlink("one", directory / "now");
  std::filesystem::create_symlink("now/keystore.jks", directory / "keystore.jks");
  TlsFiles files;
  files.paths = {directory / "keystore.jks"};
  files.password = "changeit";
  files.key_password = "secret1";
  files.look = base::Duration::Millis(10);
  const auto loop = env_posix::MakePosixLoop();
  const auto disk = env_posix::MakePosixDisk();
  OneLine log(*loop);
  const auto opened = WebTls::Open(*loop, *loop, *disk, log, files);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  ASSERT_EQ(log.said, "") << "the link's own mode says nothing of who can read the key";
  std::filesystem::create_directory_symlink("two", directory / "next");
  std::filesystem::rename(directory / "next", directory / "now");
  env::Timer late(*loop);
  late.After(base::Duration::Seconds(20), [&] { loop->Stop(); });
  loop->Run();
  EXPECT_EQ(log.said, "the changed certificate is refused; the earlier one stays");
}

TEST(Tls, MapOutputsForKnownReducersAloneAreRefused) {
  HadoopConf conf;
  conf.Set("ssl.server.keystore.location", "/etc/keystore.jks");
  conf.Set("hadoop.ssl.require.client.cert", "true");
  ReadServerTls(conf);
  EXPECT_TRUE(conf.errors().empty()) << "YARN's pages ask nobody, in Hadoop either";
  ReadServerTls(conf, "mapreduce.shuffle.ssl.enabled");
  EXPECT_NE(conf.ErrorText().find("hadoop.ssl.require.client.cert: true is not supported: reducers are asked for no "
                                  "certificates, so everybody would come in; write false"),
            std::string::npos)
      << conf.ErrorText();
}

TEST(Tls, StrictTransportIsOfHttpsAlone) {
  HadoopConf conf;
  conf.Set("hadoop.http.header.Strict-Transport-Security", "max-age=60");
  EXPECT_EQ(StrictTransport(conf), "");
  conf.Set("yarn.http.policy", "HTTPS_ONLY");
  EXPECT_EQ(StrictTransport(conf), "max-age=60");
}

}  // namespace
}  // namespace fairlead::shell
