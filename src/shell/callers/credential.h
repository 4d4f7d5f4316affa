#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/hadoop_conf.h"
#include "endpoints/yarn/rpc_identity.h"
#include "shell/base/settings.h"

// The file by which another machine is let in where there is no KDC: Fairlead's own YAML with the cluster's addresses
// and fairlead.auth.credential, "fl1.NAME.SERIAL.SECRET".

namespace fairlead::shell {

inline constexpr char kAuth[] = "fairlead.auth";
inline constexpr char kCredential[] = "fairlead.auth.credential";
inline constexpr char kCredentialKind[] = "fairlead.auth.credential-kind";  // "node", "client"

/// What `fairlead credentials make` writes; `about` is a line for people.
std::string CredentialFile(const std::string& credential, const std::string& kind, const std::string& about,
                           const std::vector<std::pair<std::string, std::string>>& settings);

/// Whether a file may say `key` of its cluster: addresses, names and how its ports are spoken to.
bool TellsOfACluster(std::string_view key);

/// Takes such a file's text apart. It comes from elsewhere: whatever tells of no cluster is an error, and so is a value
/// that none of these keys can have.
base::Result<config::HadoopConf> ParseCredentialFile(const std::string& path, std::string_view text);

/// The text of such a file, which nobody else may read; an error says what to do. Does not wait for a FIFO's writer.
base::Result<std::string> ReadCredentialText(const std::string& path);
/// ReadCredentialText and ParseCredentialFile.
base::Result<config::HadoopConf> ReadCredentialFile(const std::string& path);

/// Where `fairlead join` puts the file of a KIND ("node", "client") and daemons and commands look for it:
/// /etc/fairlead/KIND.credential for root, else ~/.fairlead/KIND.credential; "" of who has no home.
std::string CredentialPath(const std::string& kind);

/// Takes over what the file at `path` says and the configuration does not, where nothing else names a cluster, or where
/// that says fairlead.auth=credentials, or names a manager's address as the file does and no method. A file that is not
/// there changes nothing. What remains is an error.
base::Status AddCredential(const std::string& path, const SettingsSource& source, config::HadoopConf& conf);

/// The credential as a token of Hadoop's RPC; nothing: there is none.
std::optional<endpoints::yarn::RpcToken> CredentialToken(const std::string& credential);
/// Gives the configuration's credential. A file that changes is read again, so that renewing needs no restart; while it
/// cannot be read the earlier credential counts.
std::function<std::optional<endpoints::yarn::RpcToken>()> CredentialSource(const config::HadoopConf& conf,
                                                                           const std::string& path);

}  // namespace fairlead::shell
