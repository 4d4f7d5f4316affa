#include "endpoints/rest/document.h"

#include <gtest/gtest.h>

namespace fairlead::endpoints::rest {
namespace {

TEST(DocumentTest, WritesBeansAsJerseyDoes) {
  Document apps = Document::Object();
  apps.Add("app", Document(Document::List{Document::Object().Add("id", "a<1>").Add("progress", Document::Float(0)),
                                          Document::Object().Add("ok", true).Add("n", int64_t{7})}));
  EXPECT_EQ(apps.ToJson("apps"), R"({"apps":{"app":[{"id":"a<1>","progress":0.0},{"ok":true,"n":7}]}})");
  EXPECT_EQ(apps.ToXml("apps"),
            "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?><apps><app><id>a&lt;1&gt;</id><progress>0.0"
            "</progress></app><app><ok>true</ok><n>7</n></app></apps>");
  EXPECT_EQ(Document::Object().ToJson("apps"), R"({"apps":{}})");
  EXPECT_EQ(Document::Object().ToXml("apps"), "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?><apps/>");
}

TEST(DocumentTest, NumbersAreJavas) {
  EXPECT_EQ(JavaFloat(8.333334F), "8.333334");
  EXPECT_EQ(JavaFloat(0), "0.0");
  EXPECT_EQ(JavaFloat(100), "100.0");
  EXPECT_EQ(JavaFloat(0.001F), "0.001");
  EXPECT_EQ(JavaFloat(1e10F), "1.0E10");
  EXPECT_EQ(JavaDouble(2.0013320446014404), "2.0013320446014404");
  EXPECT_EQ(JavaDouble(1e-5), "1.0E-5");
  EXPECT_EQ(JavaDouble(-12.5), "-12.5");
}

}  // namespace
}  // namespace fairlead::endpoints::rest
