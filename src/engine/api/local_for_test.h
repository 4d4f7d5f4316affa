#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "engine/api/context.h"
#include "engine/run/local.h"

namespace fairlead::engine {

/// A test of jobs in one process, in a directory of its own.
class LocalTest : public testing::Test {
 protected:
  LocalTest() {
    directory_ =
        std::filesystem::temp_directory_path() / ("fairlead-local-test-" + std::to_string(::getpid()) + "-" +
                                                  testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  ~LocalTest() override {
    local_.reset();
    std::filesystem::remove_all(directory_);
  }
  Context Start(int64_t memory_bytes = 64 << 20, int32_t slots = 3) {
    LocalOptions options;
    options.slots = slots;
    options.memory_bytes = memory_bytes;
    options.directory = directory_ / "scratch";
    std::filesystem::create_directories(options.directory);
    local_ = std::make_unique<Local>(options);
    return Context(local_->session());
  }

  std::filesystem::path directory_;
  std::unique_ptr<Local> local_;
};

}  // namespace fairlead::engine
