#include "shell/kerberos/server_principal.h"

#include <gtest/gtest.h>

namespace fairlead::shell {
namespace {

TEST(ServerPrincipal, APatternGoesFirst) {
  config::HadoopConf conf;
  EXPECT_EQ(ServerPrincipal(conf, "dfs.namenode.kerberos.principal"), "");
  conf.Set("dfs.namenode.kerberos.principal", "nn/_HOST@EXAMPLE.COM");
  EXPECT_EQ(ServerPrincipal(conf, "dfs.namenode.kerberos.principal"), "nn/_HOST@EXAMPLE.COM");
  conf.Set("dfs.namenode.kerberos.principal.pattern", "");
  EXPECT_EQ(ServerPrincipal(conf, "dfs.namenode.kerberos.principal"), "nn/_HOST@EXAMPLE.COM");
  conf.Set("dfs.namenode.kerberos.principal.pattern", "nn/*@*.COM");
  EXPECT_EQ(ServerPrincipal(conf, "dfs.namenode.kerberos.principal"), "nn/*@*.COM");
  EXPECT_TRUE(conf.errors().empty()) << conf.ErrorText();
}

TEST(ServerPrincipal, APatternThatCannotBeReadIsRefusedByItsKey) {
  config::HadoopConf conf;
  conf.Set("yarn.resourcemanager.principal.pattern", "{rm,yarn/*");
  ServerPrincipal(conf, "yarn.resourcemanager.principal");
  EXPECT_NE(conf.ErrorText().find("yarn.resourcemanager.principal.pattern: {rm,yarn/* cannot be read: a { is not "
                                  "closed; write "),
            std::string::npos)
      << conf.ErrorText();
}

}  // namespace
}  // namespace fairlead::shell
