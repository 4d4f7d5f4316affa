#include "shell/nm/gathered_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "env_posix/test_directory.h"

namespace fairlead::shell {
namespace {

namespace fs = std::filesystem;

class GatheredFilesTest : public testing::Test {
 protected:
  GatheredFilesTest() { conf_.Set("yarn.nodemanager.remote-app-log-dir", "file:" + root_); }

  /// Below the root, of ann's application.
  void Gather(const std::string& place, const std::string& file) {
    const std::string directory = root_ + "/" + place + "/0003/application_17_0003";
    fs::create_directories(directory);
    std::ofstream(directory + "/" + file) << "text";
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> all;
    for (const auto& files : FindGatheredFiles(conf_, {17, 3}, "ann", "ann")) {
      const auto names = files->Names();
      EXPECT_TRUE(names.ok());
      for (const std::string& name : *names) {
        EXPECT_TRUE(files->Open(name).ok()) << name;
        all.push_back(name);
      }
    }
    return all;
  }

  const env_posix::TestDirectory directory_;
  const std::string& root_ = directory_.path();
  config::HadoopConf conf_;
};

TEST_F(GatheredFilesTest, AreLookedForInThePlacesOfAllFormats) {
  conf_.Set("yarn.log-aggregation.file-formats", "IFile,TFile,Indexed,Mine");
  conf_.Set("yarn.log-aggregation.file-controller.Indexed.class",
            "org.apache.hadoop.yarn.logaggregation.filecontroller.ifile.LogAggregationIndexedFileController");
  conf_.Set("yarn.log-aggregation.Indexed.remote-app-log-dir", "file:" + root_ + "/own");
  conf_.Set("yarn.log-aggregation.Indexed.remote-app-log-dir-suffix", "mine");
  Gather("ann/bucket-logs-tfile", "of-tfile");
  EXPECT_THAT(Names(), testing::ElementsAre("of-tfile"));
  Gather("own/ann/bucket-mine", "of-another");
  Gather("ann/bucket-logs-ifile", "of-ifile");
  Gather("ann/bucket-logs-ifile", "unfinished.tmp");
  EXPECT_THAT(Names(), testing::ElementsAre("of-ifile", "of-tfile", "of-another"));
}

TEST_F(GatheredFilesTest, APlaceOfTwoFormatsIsReadOnce) {
  conf_.Set("yarn.log-aggregation.file-formats", "IFile,TFile");
  for (const char* format : {"IFile", "TFile"})
    conf_.Set("yarn.log-aggregation." + std::string(format) + ".remote-app-log-dir-suffix", "all");
  Gather("ann/bucket-all", "file");
  EXPECT_THAT(Names(), testing::ElementsAre("file"));
}

TEST_F(GatheredFilesTest, ThatCannotBeReachedAreAnError) {
  std::ofstream(root_ + "/ann") << "no directory";
  const auto found = FindGatheredFiles(conf_, {17, 3}, "ann", "ann");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0]->Names().error().message, testing::HasSubstr("Not a directory"));
}

}  // namespace
}  // namespace fairlead::shell
