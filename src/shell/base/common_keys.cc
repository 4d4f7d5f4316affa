#include "shell/base/common_keys.h"

namespace fairlead::shell {

std::vector<config::Setting> CommonKeys() {
  return {
      {"hadoop.tmp.dir", "/tmp/hadoop-USER", "below which state lies when no key says where"},
      {"fs.defaultFS", "file:///", "default file system"},
      {"yarn.acl.enable", "false", "lists of queues and applications count"},
      {"yarn.admin.acl", "\\*",
       "administrators, for `rmadmin` whatever yarn.acl.enable says; the daemon's own user is always one"},
      {"hadoop.security.authorization", "false", "hadoop-policy.xml counts"},
      {"hadoop.security.authentication", "simple", "simple or kerberos ([Kerberos](kerberos.md))"},
      {"hadoop.rpc.protection", "authentication", "authentication, integrity, privacy; several with commas between"},
      {"hadoop.security.auth_to_local", "DEFAULT", "names of users for principals; `.mechanism`: hadoop or mit"},
      {"hadoop.http.authentication.*", "simple",
       "`.type`, `.kerberos.principal`, `.kerberos.keytab`, `.signature.secret.file`, `.token.validity`, "
       "`.cookie.domain`, `.cookie.persistent`; another type than simple and kerberos is refused"},
      {"hadoop.http.staticuser.user", "dr.who",
       "whose rights count at a web port where a request gives no name and nobody has to log in"},
      {"hadoop.security.secret-manager.key-generator.algorithm", "HmacSHA1",
       "HmacSHA1, HmacSHA224, HmacSHA256, HmacSHA384, HmacSHA512 or HmacMD5; equal on all daemons"},
      {"hadoop.security.group.mapping", "the accounts of the machine",
       "or NullGroupsMapping; with SSSD the accounts are a directory's"},
      {"hadoop.user.group.static.mapping.overrides", "none", "user=group,group;other=group: asked before"},
      {"hadoop.security.instrumentation.requires.admin", "false", "/conf, /jmx and the like are for administrators"},
      {"hadoop.security.sensitive-config-keys", "as Hadoop's", "keys whose values /conf leaves out"},
      {"yarn.http.policy", "HTTP_ONLY",
       "HTTPS_ONLY: the web ports speak TLS ([TLS](tls.md)); HTTP_AND_HTTPS is refused"},
      {"hadoop.http.header.Strict-Transport-Security", "none", "with HTTPS_ONLY: that header of every answer"},
      {"ssl.server.*", "none",
       "of ssl-server.xml: `.keystore.location`, `.keystore.password`, `.keystore.keypassword`, "
       "`.exclude.cipher.list`, "
       "`.stores.reload.interval` (10000)"},
      {"fairlead.tls.certificate", "as ssl-server.xml says", "PEM file that the web ports show"},
      {"fairlead.tls.key", "as ssl-server.xml says", "and the file of its key"},
      {"fairlead.tls.ca", "as ssl-client.xml says, else the machine's",
       "certificates by which commands (`--ca`) trust pages, and `/proxy/` those of masters"},
      {"fairlead.http.hosts", "none",
       "names, or NAME:PORT, under which proxies and gateways show the web ports; `*`: any "
       "([security](security.md#names-of-web-ports))"},
      {"fairlead.auth", "credentials",
       "credentials: [nobody is believed](security.md#clusters-without-a-kdc) by his name alone; simple: names are "
       "believed, as by Hadoop without Kerberos. That is the default where Hadoop's files are given "
       "(`--hadoop-conf`)"},
      {"fairlead.auth.networks", "none",
       "with credentials: addresses and ranges (10.0.0.0/8) of which clients that know no credential are believed"},
      {"fairlead.auth.users", "none", "whom these may say they are: names, or `*`"},
      {"fairlead.auth.node-users", "root and the daemon's own",
       "with credentials: whose processes on the resource manager's machine may be node agents"},
      {"fairlead.auth.credential", "none", "what `fairlead credentials make` gave to this machine"},
      {"fairlead.auth.credential-kind", "none", "whose that is: node or client"},
      {"fairlead.callers.uids", "everybody",
       "uids of this machine whose processes alone are served; `fairlead up` writes its own; Standalone daemons and "
       "`shuffle` read it in Spark's properties, too"},
  };
}

}  // namespace fairlead::shell
