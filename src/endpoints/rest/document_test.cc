#include "endpoints/rest/document.h"

#include <gtest/gtest.h>

#include "base/text.h"

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

// Written by JAXB of Hadoop 3.4.3's own CapacitySchedulerInfo and CapacitySchedulerLeafQueueInfo, without white space.
TEST(DocumentTest, WhichOfSeveralBeansAnObjectIsStandsAsJaxbWritesIt) {
  Document leaf = Document::Object();
  leaf.Type("capacitySchedulerLeafQueueInfo").Add("queueName", "l");
  Document parent = Document::Object().Add("queueName", "p");
  Document info = Document::Object();
  info.Type("capacityScheduler").Add("queue", Document::List{parent, leaf, leaf});
  const Document scheduler = Document::Object().Add("schedulerInfo", info);
  EXPECT_EQ(scheduler.ToXml("scheduler"),
            "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?><scheduler><schedulerInfo "
            "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:type=\"capacityScheduler\"><queue><queueName>p"
            "</queueName></queue><queue xsi:type=\"capacitySchedulerLeafQueueInfo\"><queueName>l</queueName></queue>"
            "<queue xsi:type=\"capacitySchedulerLeafQueueInfo\"><queueName>l</queueName></queue></schedulerInfo>"
            "</scheduler>");
  EXPECT_EQ(leaf.ToJson(""), R"({"type":"capacitySchedulerLeafQueueInfo","queueName":"l"})");
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

/// XML 1.0, "Char", over well-formed UTF-8.
bool IsXmlText(std::string_view text) {
  for (size_t length = 0; !text.empty(); text.remove_prefix(length)) {
    length = base::Utf8Length(text);
    const std::string_view sequence = text.substr(0, length);
    const bool control = length == 1 && text[0] < 0x20 && text[0] != '\n' && text[0] != '\t' && text[0] != '\r';
    if (length == 0 || control || sequence == "\xEF\xBF\xBE" || sequence == "\xEF\xBF\xBF") return false;
  }
  return true;
}

TEST(DocumentTest, NoTextOfAStrangerBreaksXml) {
  EXPECT_EQ(XmlEscape("h\xC3\xA9 <&>\" \x1b[m\xff\xed\xa0\x80"),
            "h\xC3\xA9 &lt;&amp;&gt;&quot; \xEF\xBF\xBD[m\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_TRUE(IsXmlText(XmlEscape("\xEF\xBF\xBE \xEF\xBF\xBF \xF4\x90\x80\x80 \xE2\x82")));
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string text = {static_cast<char>(first), static_cast<char>(second)};
      ASSERT_TRUE(IsXmlText(XmlEscape(text))) << first << " " << second;
    }
  }
}

}  // namespace
}  // namespace fairlead::endpoints::rest
