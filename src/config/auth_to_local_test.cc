#include "config/auth_to_local.h"

#include <gtest/gtest.h>

namespace fairlead::config {
namespace {

using Mechanism = AuthToLocal::Mechanism;

std::string Short(std::string_view rules, const std::string& principal, Mechanism mechanism = Mechanism::kHadoop) {
  const auto parsed = AuthToLocal::Parse(rules, mechanism, "EXAMPLE.COM");
  if (!parsed.ok()) return "refused: " + parsed.error().message;
  const auto name = parsed->ShortName(principal);
  return name.ok() ? *name : "error: " + name.error().message;
}

TEST(AuthToLocal, DefaultTakesTheFirstPartInTheDefaultRealm) {
  for (const char* rules : {"", "  \n", "DEFAULT"}) {
    EXPECT_EQ(Short(rules, "alice@EXAMPLE.COM"), "alice");
    EXPECT_EQ(Short(rules, "rm/host.example.com@EXAMPLE.COM"), "rm");
    EXPECT_EQ(Short(rules, "alice@OTHER.COM"), "error: No rules applied to alice@OTHER.COM");
    EXPECT_EQ(Short(rules, "alice"), "alice");
  }
}

TEST(AuthToLocal, TheFirstRuleThatAppliesCounts) {
  const char* rules =
      "RULE:[2:$1@$0](rm@EXAMPLE\\.COM)s/.*/yarn/\n"
      "RULE:[1:$1@$0](.*@OTHER\\.COM)s/@.*///L\n"
      "RULE:[2:$1;$2](^.*;admin$)s/;admin$//\n"
      "RULE:[1:$1](guest.*)s/e/3/g\n"
      "DEFAULT";
  EXPECT_EQ(Short(rules, "rm/h@EXAMPLE.COM"), "yarn");
  EXPECT_EQ(Short(rules, "Bob@OTHER.COM"), "bob");
  EXPECT_EQ(Short(rules, "carol/admin@EXAMPLE.COM"), "carol");
  EXPECT_EQ(Short(rules, "guestee@EXAMPLE.COM"), "gu3st33");
  EXPECT_EQ(Short(rules, "alice@EXAMPLE.COM"), "alice");
}

TEST(AuthToLocal, NeitherASlashNorASpaceHasToSeparate) {
  EXPECT_EQ(Short("RULE:[1:$1@$0](.*@OTHER\\.COM)s/@.*//L", "Bob@OTHER.COM"), "bob");
  EXPECT_EQ(Short("RULE:[1:$1]L", "Bob@OTHER.COM"), "bob");
  EXPECT_EQ(Short("RULE:[1:$1](b.*)s/b/c/gRULE:[2:$1]/LDEFAULT", "BOB/x@OTHER.COM"), "bob");
  EXPECT_EQ(Short("RULE:[1:$1](b.*)s/b/c/gRULE:[2:$1]/LDEFAULT", "bob@OTHER.COM"), "coc");
}

TEST(AuthToLocal, ReplacementsAreJavas) {
  EXPECT_EQ(Short("RULE:[1:$1]s/^(a)(.*)$/$2-$1/", "abc@R"), "bc-a");
  EXPECT_EQ(Short("RULE:[1:$1]s/b/\\$/", "abc@R"), "a$c");
  EXPECT_EQ(Short("RULE:[1:$1]s/b/x/", "abcb@R"), "axcb");
  EXPECT_EQ(Short("RULE:[1:$1@$0](a.*)s/(.*)@.*/$1_x/", "ab@R"), "ab_x");
}

TEST(AuthToLocal, WhatIsNoSimpleNameIsRefusedUnlessMit) {
  EXPECT_EQ(Short("RULE:[1:$1@$0]", "a@R"), "error: Non-simple name a@R after auth_to_local rule for a@R");
  EXPECT_EQ(Short("RULE:[1:$1@$0]", "a@R", Mechanism::kMit), "a@R");
  EXPECT_EQ(Short("RULE:[3:$1]", "a@R", Mechanism::kMit), "a@R");
  EXPECT_EQ(Short("RULE:[1:$1]s/.*//", "a@R").substr(0, 23), "error: Non-simple name ");
}

TEST(AuthToLocal, NobodyIsNamedByWhatIsNoPrincipalOfOneOrTwoParts) {
  for (const char* principal :
       {"", "@", "@EXAMPLE.COM", "/host@EXAMPLE.COM", "alice@", "a@b@", "alice/@EXAMPLE.COM", "yarn/evil/z@EXAMPLE.COM",
        "yarn/a/b/c@EXAMPLE.COM", "yarn//z@EXAMPLE.COM", "a@b@EXAMPLE.COM", "a@EXAMPLE.COM/b", "carol\\/x@EXAMPLE.COM",
        "carol\\@OTHER.COM@EXAMPLE.COM", "carol\\\\@EXAMPLE.COM"}) {
    for (const char* rules : {"DEFAULT", "RULE:[1:$1]", "RULE:[2:$1]", "RULE:[3:$1]"}) {
      for (const Mechanism mechanism : {Mechanism::kHadoop, Mechanism::kMit}) {
        EXPECT_EQ(Short(rules, principal, mechanism), std::string("error: Malformed Kerberos name: ") + principal);
      }
    }
  }
}

TEST(AuthToLocal, RulesThatCannotBeReadAreNamed) {
  for (const char* rules : {"RULE:[1:$1", "RULE:[x:$1]", "RULES", "RULE:[1:$1](a", "RULE:[1:$1]s/a", "DEFAULTS",
                            "RULE:[1:$1](?<!a)", "RULE:[1:$1]s/(a)\\1/b/", "RULE:[1:$1]s/a/$1/"}) {
    EXPECT_EQ(Short(rules, "a@R").substr(0, 15), "refused: rule '") << rules;
  }
}

TEST(AuthToLocal, LongNamesAreBounded) {
  EXPECT_EQ(Short("", std::string(2000, 'a') + "@EXAMPLE.COM"), "error: the principal's name is too long");
}

}  // namespace
}  // namespace fairlead::config
