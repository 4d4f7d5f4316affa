"""A small HDFS with the WebHDFS interface in one process: NameNode and DataNodes, with a root of its own in memory. As Hadoop's it sends
who reads or writes bytes to the DataNode, answers with RemoteException, does not replace files by a rename and makes no missing parents
for one."""
import base64
import errno
import http.server
import json
import threading
import urllib.parse


class FakeHdfs:
    """`files` maps absolute paths to bytes, or to None for a directory. `fail` may refuse: function of (operation, path) -> bool. `blocks`
    maps paths to what the NameNode says of their blocks; without an entry it is of a release that does not know the question. Data is read
    from `data_host`, which may be any of HOSTS. A `full` DataNode refuses what is written before it has it. With `secured` its NameNode
    lets those in who show a delegation token with this identifier. A `standby` sends all away."""

    HOSTS = ("127.0.0.1", "127.0.0.2")

    def __init__(self):
        self.files = {"/": None}
        self.operations = []
        self.fail = lambda operation, path: False
        self.blocks = {}
        self.data_host = self.HOSTS[0]
        self.full = False
        self.secured = None
        self.standby = False
        self.lock = threading.Lock()
        hdfs = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                try:
                    hdfs.answer(self)
                except ConnectionError:  # a reader that has what it wants
                    self.close_connection = True

            do_PUT = do_DELETE = do_GET

        self.servers = []
        while not self.servers:
            self.servers = self.on_one_port(Handler)
        self.port = self.servers[0].server_address[1]
        for server in self.servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()

    def on_one_port(self, handler):
        """A server at the same free port of each host; none where others have that port at one of them."""
        servers, port = [], 0
        try:
            for host in self.HOSTS:
                servers.append(http.server.ThreadingHTTPServer((host, port), handler))
                port = servers[0].server_address[1]
        except OSError as error:
            for server in servers:
                server.server_close()
            if error.errno != errno.EADDRINUSE:
                raise
            return []
        return servers

    def url(self, path):
        return f"webhdfs://127.0.0.1:{self.port}{path}"

    def close(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()

    def answer(self, request):
        url = urllib.parse.urlsplit(request.path)
        words = dict(urllib.parse.parse_qsl(url.query))
        where, operation = url.path, words.get("op")
        on_data_node = where.startswith("/data")
        path = "/" + urllib.parse.unquote(where.removeprefix("/data").removeprefix("/webhdfs/v1")).strip("/")
        if operation == "CREATE" and on_data_node:  # as a DataNode does, unasked
            request.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            if self.full:
                self.reply(request, 403, {"RemoteException": {"exception": "DSQuotaExceededException", "message": "no room"}})
                return self.body_of(request)
        body = self.body_of(request)
        if self.secured and not on_data_node and not self.is_shown(words):
            return self.reply(request, 401, {"RemoteException": {"exception": "SecurityException", "message": "Failed to obtain user group information"}})
        if self.standby and not on_data_node:
            return self.reply(request, 403, {"RemoteException": {"exception": "StandbyException", "message": "Operation category READ is not supported in state standby"}})
        with self.lock:
            self.operations.append((operation, path, on_data_node))
            if self.fail(operation, path):
                return self.reply(request, 403, {"RemoteException": {"exception": "AccessControlException", "message": f"denied: {path}\n\tat x"}})
            if operation in ("OPEN", "CREATE") and not on_data_node:
                if operation == "OPEN" and self.files.get(path) is None:
                    return self.not_found(request, path)
                location = f"http://{self.data_host}:{self.port}/data{request.path}"
                return self.reply(request, 307, {}, location)
            getattr(self, operation.lower())(request, path, words, body)

    def is_shown(self, words):
        text = words.get("delegation", "")
        token = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        return "user.name" not in words and token[1:].startswith(self.secured) and token[0] == len(self.secured)

    @staticmethod
    def body_of(request):
        if request.headers.get("Transfer-Encoding") != "chunked":
            return request.rfile.read(int(request.headers.get("Content-Length", 0)))
        body = b""
        while size := int(request.rfile.readline().split(b";")[0], 16):
            body += request.rfile.read(size)
            request.rfile.readline()
        request.rfile.readline()
        return body

    @staticmethod
    def reply(request, status, answer, location=None):
        text = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        request.send_response(status)
        if location:
            request.send_header("Location", location)
        request.send_header("Content-Length", str(len(text)))
        request.end_headers()
        request.wfile.write(text)

    def not_found(self, request, path):
        self.reply(request, 404, {"RemoteException": {"exception": "FileNotFoundException", "message": f"File does not exist: {path}"}})

    def children(self, path):
        return [name for name in self.files if name != "/" and name.rpartition("/")[0] == path.rstrip("/")]

    def status(self, path, name=""):
        data = self.files[path]
        return {"pathSuffix": name, "type": "DIRECTORY" if data is None else "FILE", "length": len(data or b"")}

    def getfilestatus(self, request, path, words, body):
        if path not in self.files:
            return self.not_found(request, path)
        self.reply(request, 200, {"FileStatus": self.status(path)})

    def liststatus(self, request, path, words, body):
        if path not in self.files:
            return self.not_found(request, path)
        self.reply(request, 200, {"FileStatuses": {"FileStatus": [self.status(name, name.rpartition("/")[2]) for name in self.children(path)]}})

    def getfileblocklocations(self, request, path, words, body):
        if path not in self.blocks:
            refusal = {"exception": "IllegalArgumentException", "message": 'Invalid value for webhdfs parameter "op": No enum constant'}
            return self.reply(request, 400, {"RemoteException": refusal})
        self.reply(request, 200, {"BlockLocations": {"BlockLocation": self.blocks[path]}})

    def open(self, request, path, words, body):
        self.reply(request, 200, self.files[path][int(words.get("offset", 0)):])

    def create(self, request, path, words, body):
        if words.get("createparent") == "false" and path.rpartition("/")[0] not in self.files:
            return self.not_found(request, path)
        self.make_parents(path)
        self.files[path] = body
        self.reply(request, 201, b"")

    def make_parents(self, path):
        while path := path.rpartition("/")[0]:
            self.files.setdefault(path, None)

    def mkdirs(self, request, path, words, body):
        self.make_parents(path)
        self.files.setdefault(path, None)
        self.reply(request, 200, {"boolean": True})

    def rename(self, request, path, words, body):
        target = words["destination"]
        done = path in self.files and target not in self.files and target.rpartition("/")[0] in self.files
        if done:
            for name in [name for name in self.files if name == path or name.startswith(path + "/")]:
                self.files[target + name[len(path):]] = self.files.pop(name)
        self.reply(request, 200, {"boolean": done})

    def delete(self, request, path, words, body):
        if words.get("recursive") != "true" and self.children(path):
            return self.reply(request, 403, {"RemoteException": {"exception": "PathIsNotEmptyDirectoryException", "message": path}})
        self.reply(request, 200, {"boolean": self.remove(path) > 0})

    def remove(self, path):
        gone = [name for name in self.files if name == path or name.startswith(path + "/")]
        for name in gone:
            del self.files[name]
        return len(gone)


def token_file(identifier, service):
    """What Hadoop's clients and containers have in HADOOP_TOKEN_FILE_LOCATION: one token of HDFS (Credentials.writeTokenStorageToStream)."""
    def field(data):
        assert len(data) < 128
        return bytes([len(data)]) + data
    token = b"".join(field(part) for part in (identifier, b"password", b"HDFS_DELEGATION_TOKEN", service))
    return b"HDTS\0" + bytes([1]) + field(service) + token + bytes([0])
