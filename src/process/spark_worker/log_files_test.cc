#include "process/spark_worker/log_files.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <map>

#include "env_sim/world.h"

namespace fairlead::process::spark_worker {
namespace {

std::string Packed(const std::string& text) {
  z_stream stream = {};
  EXPECT_EQ(::deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(::deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

TEST(LogFiles, AreOneTextOldestFirst) {
  env_sim::World world(1);
  env::Disk& disk = world.AddMachine("host").disk();
  ASSERT_TRUE(disk.MakeDirectories("/spark/app/0").ok());
  const std::string many(200'000, 'x');
  for (const auto& [name, text] :
       std::map<std::string, std::string>{{"stderr", "now"},
                                          {"stderr--2026-01-01", "first,"},
                                          {"stderr--2026-01-02.gz", Packed(many + "second,")},
                                          {"stdout", "another"}}) {
    ASSERT_TRUE(disk.WriteFileAtomically("/spark/app/0/" + name, text).ok());
  }
  LogFiles::Lengths lengths;
  const auto log = LogFiles::Find(disk, "/spark", "app/0/", "stderr", lengths);
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(log->size(), 200'016);
  EXPECT_EQ(*log->Read(0, 8), "first,xx");
  EXPECT_EQ(*log->Read(200'000, 100), "xxxxxxsecond,now");
  EXPECT_EQ(*log->Read(199'999, 4), "xxxx");
  EXPECT_EQ(*log->Read(200'016, 10), "");
  const auto again = LogFiles::Find(disk, "/spark", "app/0/", "stderr", lengths);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->size(), log->size()) << "by the lengths that are known";
  EXPECT_FALSE(LogFiles::Find(disk, "/spark", "app/0/", "nothing", lengths).ok());
}

TEST(LogFiles, WhatAnExecutorPackedIsUnpackedUpToABound) {
  env_sim::World world(1);
  env::Disk& disk = world.AddMachine("host").disk();
  ASSERT_TRUE(disk.MakeDirectories("/spark/app/0").ok());
  const std::string packed = Packed(std::string(40 << 20, 'x'));
  for (const char* name : {"stdout--1.gz", "stdout--2.gz", "stdout--3.gz"}) {
    ASSERT_TRUE(disk.WriteFileAtomically(std::string("/spark/app/0/") + name, packed).ok());
  }
  LogFiles::Lengths lengths;
  const auto log = LogFiles::Find(disk, "/spark", "app/0/", "stdout", lengths);
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(log->size(), 64 << 20);
  EXPECT_EQ(*log->Read(log->size() - 2, 10), "xx");
}

}  // namespace
}  // namespace fairlead::process::spark_worker
