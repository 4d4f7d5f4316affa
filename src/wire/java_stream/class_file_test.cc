#include "wire/java_stream/class_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::wire::java_stream {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string Unhex(std::string_view hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    out.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return out;
}

// Compiled by javac 17 with -g:none; the expected numbers are serialver's.
//
// public class Sample {
//   protected static final class Item implements Serializable, Comparable<Item> {
//     static { System.nanoTime(); }
//     public int count; private String name; private transient long skipped; static final long NUMBER = 7;
//     protected volatile double[] ratios; private static int hidden;
//     Item(int c, String... rest) { count = c; }
//     private Item() {}
//     public synchronized int compareTo(Item o) { return count - o.count; }
//     private void secret() {}
//     private void writeObject(ObjectOutputStream out) throws IOException { out.defaultWriteObject(); }
//     static void helper(Object... o) {}
//   }
//   interface Shape extends Serializable { int area(); }
//   interface Empty extends Serializable {}
//   static class Fixed implements Serializable { private static final long serialVersionUID = 4242L; boolean on; }
// }
const std::map<std::string, std::string, std::less<>> kClasses = {
    {"Sample$Item",
     "cafebabe0000003d003e0a000200030700040c000500060100106a6176612f6c616e672f4f626a6563740100063c696e69743e010003"
     "282956090008000907000a0c000b000c01000b53616d706c65244974656d010005636f756e74010001490a000e000f0700100c001100"
     "0601001a6a6176612f696f2f4f626a6563744f757470757453747265616d01001264656661756c7457726974654f626a6563740a0008"
     "00130c00140015010009636f6d70617265546f010010284c53616d706c65244974656d3b29490a001700180700190c001a001b010010"
     "6a6176612f6c616e672f53797374656d0100086e616e6f54696d6501000328294a07001d0100146a6176612f696f2f53657269616c69"
     "7a61626c6507001f0100146a6176612f6c616e672f436f6d70617261626c650100046e616d650100124c6a6176612f6c616e672f5374"
     "72696e673b010007736b69707065640100014a0100064e554d42455201000d436f6e7374616e7456616c756505000000000000000701"
     "0006726174696f730100025b4401000668696464656e01001728495b4c6a6176612f6c616e672f537472696e673b2956010004436f64"
     "6501000673656372657401000b77726974654f626a65637401001f284c6a6176612f696f2f4f626a6563744f75747075745374726561"
     "6d3b295601000a457863657074696f6e730700320100136a6176612f696f2f494f457863657074696f6e01000668656c706572010016"
     "285b4c6a6176612f6c616e672f4f626a6563743b2956010015284c6a6176612f6c616e672f4f626a6563743b29490100083c636c696e"
     "69743e0100095369676e617475726501004d4c6a6176612f6c616e672f4f626a6563743b4c6a6176612f696f2f53657269616c697a61"
     "626c653b4c6a6176612f6c616e672f436f6d70617261626c653c4c53616d706c65244974656d3b3e3b0100084e657374486f73740700"
     "3b01000653616d706c6501000c496e6e6572436c61737365730100044974656d0031000800020002001c001e00060001000b000c0000"
     "00020020002100000082002200230000001800240023000100250000000200260044002800290000000a002a000c0000000800800005"
     "002b0001002c00000016000200030000000a2ab700012a1bb50007b1000000000002000500060001002c000000110001000100000005"
     "2ab70001b1000000000021001400150001002c00000016000200020000000a2ab400072bb4000764ac000000000002002d0006000100"
     "2c0000000d0000000100000001b1000000000002002e002f0002002c0000001100010002000000052bb6000db1000000000030000000"
     "04000100310088003300340001002c0000000d0000000100000001b1000000001041001400350001002c000000150002000200000009"
     "2a2bc00008b60012ac000000000008003600060001002c000000110002000000000005b8001658b10000000000030037000000020038"
     "003900000002003a003c0000000a00010008003a003d001c"},
    {"Sample$Shape",
     "cafebabe0000003d000e07000201000c53616d706c652453686170650700040100106a6176612f6c616e672f4f626a65637407000601"
     "00146a6176612f696f2f53657269616c697a61626c65010004617265610100032829490100084e657374486f737407000b0100065361"
     "6d706c6501000c496e6e6572436c61737365730100055368617065060000010003000100050000000104010007000800000002000900"
     "000002000a000c0000000a00010001000a000d0608"},
    {"Sample$Empty",
     "cafebabe0000003d000c07000201000c53616d706c6524456d7074790700040100106a6176612f6c616e672f4f626a65637407000601"
     "00146a6176612f696f2f53657269616c697a61626c650100084e657374486f737407000901000653616d706c6501000c496e6e657243"
     "6c6173736573010005456d707479060000010003000100050000000000020007000000020008000a0000000a000100010008000b0608"},
    {"Sample$Fixed",
     "cafebabe0000003d00180a000200030700040c000500060100106a6176612f6c616e672f4f626a6563740100063c696e69743e010003"
     "28295607000801000c53616d706c6524466978656407000a0100146a6176612f696f2f53657269616c697a61626c6501001073657269"
     "616c56657273696f6e5549440100014a01000d436f6e7374616e7456616c75650500000000000010920100026f6e0100015a01000443"
     "6f64650100084e657374486f737407001501000653616d706c6501000c496e6e6572436c617373657301000546697865640020000700"
     "02000100090002001a000b000c0001000d00000002000e00000010001100000001000000050006000100120000001100010001000000"
     "052ab70001b1000000000002001300000002001400160000000a00010007001400170008"},
};

int64_t Number(const std::string& name) {
  const auto file = ParseClassFile(Unhex(kClasses.at(name)));
  EXPECT_TRUE(file.ok());
  return file.ok() ? SerialVersionUid(*file) : 0;
}

TEST(ClassFile, SerialVersionUidIsThatOfTheJavaVirtualMachine) {
  EXPECT_EQ(Number("Sample$Item"), -1127646428233447757);
  EXPECT_EQ(Number("Sample$Shape"), -4213143106550708471);
  EXPECT_EQ(Number("Sample$Empty"), -1337767386808421172);
  EXPECT_EQ(Number("Sample$Fixed"), 4242);
}

TEST(ClassFile, TheDescriptionHasTheFieldsThatAreWritten) {
  const std::string item = Unhex(kClasses.at("Sample$Item"));
  ClassCatalog catalog;
  const ClassSource source = [&](std::string_view name) -> std::optional<std::string_view> {
    return name == "Sample$Item" ? std::optional<std::string_view>(item) : std::nullopt;
  };
  ASSERT_TRUE(AddClass("Sample$Item", source, catalog).ok());
  const ClassShape& shape = catalog.at("Sample$Item");
  EXPECT_EQ(shape.flags, kSerializable | kWriteMethod);
  EXPECT_EQ(shape.super, "");
  EXPECT_THAT(shape.fields, ElementsAre(Pair("count", "I"), Pair("name", "Ljava/lang/String;"), Pair("ratios", "[D")));
  EXPECT_THAT(AddClass("Sample$None", source, catalog).error().message, HasSubstr("there is no class Sample$None"));
}

TEST(ClassFile, ClassesOfTheJavaLibraryAreKnown) {
  ClassCatalog catalog;
  ASSERT_TRUE(AddClass(
                  "java.lang.Integer", [](std::string_view) { return std::nullopt; }, catalog)
                  .ok());
  EXPECT_EQ(catalog.at("java.lang.Integer").super, "java.lang.Number");
  EXPECT_EQ(catalog.count("java.lang.Number"), 1u);
}

TEST(ClassFile, WhatIsCutIsRefused) {
  const std::string whole = Unhex(kClasses.at("Sample$Fixed"));
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(ParseClassFile(std::string_view(whole).substr(0, length)).ok()) << length;
  }
}

/// 60,000 fields that share a name of 60,000 bytes: 3.6 GB in memory, from a file of half a megabyte.
TEST(ClassFile, TextsThatManyMembersShareAreBounded) {
  std::string bytes = Unhex("cafebabe0000003d0004010001410700010100") + Unhex("00");
  bytes.replace(bytes.size() - 2, 2, "\xea\x60", 2);
  bytes += std::string(60'000, 'x') + Unhex(
                                          "000000020000"
                                          "0000"
                                          "ea60");
  for (int i = 0; i < 60'000; ++i) bytes += Unhex("0000000300030000");
  bytes += Unhex("00000000");
  EXPECT_FALSE(ParseClassFile(bytes).ok());
}

}  // namespace
}  // namespace fairlead::wire::java_stream
