#include "shell/nm/web_hdfs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace fairlead::shell {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// Takes a connection for each of its answers, one after the other, and keeps what it was asked.
class CannedServer {
 public:
  explicit CannedServer(std::vector<std::string> answers) : answers_(std::move(answers)) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&any), sizeof any), 0);
    EXPECT_EQ(::listen(socket_, 8), 0);
    socklen_t size = sizeof any;
    EXPECT_EQ(::getsockname(socket_, reinterpret_cast<sockaddr*>(&any), &size), 0);
    address_ = "http://127.0.0.1:" + std::to_string(ntohs(any.sin_port));
    thread_ = std::thread([this] { Serve(); });
  }
  ~CannedServer() {
    ::shutdown(socket_, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    ::close(socket_);
  }
  CannedServer(const CannedServer&) = delete;
  CannedServer& operator=(const CannedServer&) = delete;
  const std::string& address() const { return address_; }
  /// After the last answer was taken.
  const std::vector<std::string>& asked() {
    if (thread_.joinable()) thread_.join();
    return asked_;
  }

 private:
  void Serve() {
    for (std::string answer : answers_) {
      const int peer = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
      if (peer < 0) return;
      std::string got;
      char buffer[4096];
      while (got.find("\r\n\r\n") == std::string::npos) {
        const ssize_t n = ::read(peer, buffer, sizeof buffer);
        if (n <= 0) break;
        got.append(buffer, static_cast<size_t>(n));
      }
      asked_.push_back(got.substr(0, got.find('\r')));
      if (const size_t own = answer.find("SELF"); own != std::string::npos) answer.replace(own, 4, address_);
      EXPECT_EQ(::write(peer, answer.data(), answer.size()), static_cast<ssize_t>(answer.size()));
      ::shutdown(peer, SHUT_WR);
      while (::read(peer, buffer, sizeof buffer) > 0) {
      }
      ::close(peer);
    }
  }

  std::vector<std::string> answers_;
  std::vector<std::string> asked_;
  int socket_ = -1;
  std::string address_;
  std::thread thread_;
};

std::string Answer(const std::string& status, const std::string& body, const std::string& header = "") {
  return "HTTP/1.1 " + status + "\r\n" + header + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

TEST(WebHdfsTest, TellsWhatIsThere) {
  CannedServer server({Answer("200 OK", R"({"FileStatus":{"modificationTime":7,"owner":"ann","type":"DIRECTORY"}})"),
                       Answer("404 Not Found", "{}")});
  const WebHdfs hdfs(server.address(), {"ann"});
  const auto there = hdfs.StatusOf("/a b");
  ASSERT_TRUE(there.ok()) << there.error().message;
  ASSERT_TRUE(there->has_value());
  EXPECT_EQ((*there)->modified_ms, 7);
  EXPECT_EQ((*there)->owner, "ann");
  EXPECT_TRUE((*there)->is_directory);
  const auto missing = hdfs.StatusOf("/c");
  ASSERT_TRUE(missing.ok());
  EXPECT_FALSE(missing->has_value());
  EXPECT_THAT(server.asked().front(), StartsWith("GET /webhdfs/v1/a%20b?op=GETFILESTATUS&user.name=ann "));
}

TEST(WebHdfsTest, ListsADirectory) {
  CannedServer server({Answer("200 OK", R"({"FileStatuses":{"FileStatus":[{"pathSuffix":"a"},7,{"pathSuffix":"b"}]}})"),
                       Answer("200 OK", R"({"FileStatuses":[]})"), Answer("404 Not Found", "{}")});
  const WebHdfs hdfs(server.address(), {"ann"});
  const auto names = hdfs.List("/d");
  ASSERT_TRUE(names.ok()) << names.error().message;
  EXPECT_EQ(*names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(hdfs.List("/d").error().message, "/d: WebHDFS gave no list");
  EXPECT_FALSE(hdfs.List("/d").ok());
  EXPECT_THAT(server.asked().front(), StartsWith("GET /webhdfs/v1/d?op=LISTSTATUS&user.name=ann"));
}

TEST(WebHdfsTest, ARefusalHasTheNameNodesWords) {
  CannedServer server(
      {Answer("403 Forbidden", R"({"RemoteException":{"exception":"X","message":"Permission denied: user=ann"}})"),
       Answer("200 OK", R"({"boolean":false})"), Answer("200 OK", R"({"boolean":)"), Answer("200 OK", "")});
  const WebHdfs hdfs(server.address(), {"ann"});
  EXPECT_EQ(hdfs.Remove("/a").error().message, "/a: WebHDFS answers 403 Permission denied: user=ann");
  EXPECT_EQ(hdfs.Remove("/a").error().message, "/a: the name node did not do DELETE");
  EXPECT_EQ(hdfs.Remove("/a").error().message, "/a: the name node did not do DELETE");
  EXPECT_TRUE(hdfs.Rename("/a", "/b").ok());
}

TEST(WebHdfsTest, AStandbyLeadsToTheNameNodeThatServes) {
  const std::string standby =
      Answer("403 Forbidden", R"({"RemoteException":{"exception":"StandbyException","message":""}})");
  CannedServer first({standby});
  CannedServer second({Answer("200 OK", ""), Answer("200 OK", "")});
  const WebHdfs hdfs(first.address() + "," + second.address(), {"ann"});
  EXPECT_TRUE(hdfs.Remove("/a").ok());
  EXPECT_TRUE(hdfs.Remove("/b").ok()) << "which is remembered";
  EXPECT_EQ(first.asked().size(), 1U);
  EXPECT_THAT(second.asked().back(), StartsWith("DELETE /webhdfs/v1/b?"));
}

TEST(WebHdfsTest, ANameNodeThatIsGoneLeadsToTheOther) {
  CannedServer only({Answer("200 OK", "")});
  EXPECT_TRUE(WebHdfs("http://127.0.0.1:1," + only.address(), {"ann"}).Remove("/a").ok());
}

TEST(WebHdfsTest, WhatMayHaveBeenDoneIsNotAskedAgain) {
  CannedServer first({"no HTTP"});
  EXPECT_FALSE(WebHdfs(first.address() + ",http://127.0.0.1:1", {"ann"}).Remove("/a").ok());
  EXPECT_EQ(first.asked().size(), 1U);
}

TEST(WebHdfsTest, AFileGoesByWayOfADataNode) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  std::fputs("logs", file);
  std::fflush(file);
  CannedServer server({Answer("307 Temporary Redirect", "", "Location: SELF/data\r\n"), Answer("201 Created", ""),
                       Answer("200 OK", "")});
  const WebHdfs hdfs(server.address(), {"ann"});
  EXPECT_TRUE(hdfs.Put("/x", ::fileno(file), 4, "640").ok());
  // A name node that takes the file itself is none.
  EXPECT_FALSE(hdfs.Put("/x", ::fileno(file), 4, "640").ok());
  std::fclose(file);
  ASSERT_EQ(server.asked().size(), 3U);
  EXPECT_THAT(server.asked()[0], HasSubstr("op=CREATE&overwrite=true&permission=640"));
  EXPECT_THAT(server.asked()[1], StartsWith("PUT /data "));
}

TEST(WebHdfsTest, ATokenStandsForItsOwnerAndIsInNoError) {
  CannedServer server({Answer("401 Unauthorized", "Authentication required"), "no HTTP"});
  const WebHdfs hdfs(server.address(), {"ann", "SECRET"});
  const std::string refused = hdfs.Remove("/a").error().message;
  EXPECT_EQ(refused, "/a: WebHDFS answers 401 Authentication required");
  const std::string broken = hdfs.Remove("/a").error().message;
  EXPECT_THAT(broken, StartsWith(server.address() + "/webhdfs/v1/a: "));
  EXPECT_THAT(broken, testing::Not(HasSubstr("SECRET")));
  EXPECT_THAT(server.asked().front(), StartsWith("DELETE /webhdfs/v1/a?op=DELETE&delegation=SECRET "));
}

TEST(WebHdfsTest, ATokenIsShownToItsOwnFileSystemAlone) {
  const std::vector<process::nm::FileSystemToken> tokens = {
      {"HDFS_DELEGATION_TOKEN", "127.0.0.1:8020", "address"},
      {"HDFS_DELEGATION_TOKEN", "nn.example.com:9000", "name"},
      {"HDFS_DELEGATION_TOKEN", "ha-hdfs:main", "logical"},
      {"WEBHDFS delegation", "127.0.0.1:9870", "web"},
      {"WEBHDFS delegation", "127.0.0.1:8020", "another's port"},
  };
  EXPECT_EQ(TokenFor(tokens, "hdfs", "127.0.0.1"), "address");
  EXPECT_EQ(TokenFor(tokens, "hdfs", "127.0.0.1:8020"), "address");
  EXPECT_EQ(TokenFor(tokens, "hdfs", "localhost:8020"), "address") << "by what the resolver says";
  EXPECT_EQ(TokenFor(tokens, "hdfs", "NN.example.com:9000"), "name");
  EXPECT_EQ(TokenFor(tokens, "hdfs", "main"), "logical");
  EXPECT_EQ(TokenFor(tokens, "hdfs", "main:8020"), "logical") << "as MapReduce names it";
  EXPECT_EQ(TokenFor(tokens, "webhdfs", "127.0.0.1:9870"), "web");
  EXPECT_EQ(TokenFor(tokens, "hdfs", "127.0.0.1:8021"), "");
  EXPECT_EQ(TokenFor(tokens, "http", "127.0.0.1:8020"), "");
}

TEST(WebHdfsTest, AnAnswerWithoutEndIsCut) {
  CannedServer server({Answer("200 OK", std::string(2 << 20, ' '))});
  EXPECT_FALSE(WebHdfs(server.address(), {"ann"}).StatusOf("/a").ok());
}

}  // namespace
}  // namespace fairlead::shell
