"""A Kerberos of its own: MIT's KDC on a loopback port, of Debian's packages krb5-kdc, krb5-admin-server and krb5-user. No root."""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import time

REALM = "EXAMPLE.COM"
# Below /usr/sbin, which is not in everybody's PATH.
TOOLS = {name: shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin") for name in ("krb5kdc", "kdb5_util", "kadmin.local", "kinit", "ktutil")}


def missing():
    """The tools that are not installed; empty: a KDC can be started."""
    return [name for name, path in TOOLS.items() if path is None]


class Kdc:
    """`principals`: a keytab for each service and user, DIRECTORY/NAME.keytab, where NAME is what stands before the @ with - for /."""

    def __init__(self, directory, principals, life="1h", realm=REALM):
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.realm = realm
        self.life = life
        self.process = None
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.environment = {**os.environ, "KRB5_CONFIG": str(self.directory / "krb5.conf"), "KRB5_KDC_PROFILE": str(self.directory / "kdc.conf"),
                            "KRB5RCACHEDIR": str(self.directory)}
        self.write()
        self.run("kdb5_util", "create", "-s", "-P", "secret", "-r", realm)
        commands = []
        for principal in principals:
            commands += [f"addprinc -randkey {principal}", f"ktadd -k {self.keytab(principal)} -norandkey {principal}"]
        self.run("kadmin.local", "-r", realm, input="\n".join(commands) + "\n")
        self.start()

    def write(self):
        # Java's reader wants each address on a line of its own.
        (self.directory / "krb5.conf").write_text(f"""[libdefaults]
    default_realm = {self.realm}
    dns_lookup_kdc = false
    dns_lookup_realm = false
    dns_canonicalize_hostname = false
    rdns = false
    udp_preference_limit = 1
    clockskew = 10
    ticket_lifetime = {self.life}
[realms]
    {self.realm} = {{
        kdc = 127.0.0.1:{self.port}
    }}
""")
        (self.directory / "kdc.conf").write_text(f"""[kdcdefaults]
    kdc_listen = 127.0.0.1:{self.port}
    kdc_tcp_listen = 127.0.0.1:{self.port}
[realms]
    {self.realm} = {{
        database_name = {self.directory}/principal
        key_stash_file = {self.directory}/stash
        acl_file = {self.directory}/acl
        max_life = {self.life}
        supported_enctypes = aes256-cts-hmac-sha1-96:normal
    }}
[logging]
    kdc = FILE:{self.directory}/requests.log
""")

    def run(self, tool, *words, **kwargs):
        done = subprocess.run([TOOLS[tool], *[str(word) for word in words]], env=self.environment, text=True, capture_output=True, **kwargs)
        if done.returncode != 0:
            raise AssertionError(f"{tool} ended with {done.returncode}: {done.stdout}{done.stderr}")

    def start(self):
        with open(self.directory / "kdc.log", "ab") as log:
            self.process = subprocess.Popen([TOOLS["krb5kdc"], "-n", "-r", self.realm, "-P", self.directory / "kdc.pid"], env=self.environment,
                                            stdout=log, stderr=log, start_new_session=True)
        deadline = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise AssertionError("the KDC has not begun to listen: " + (self.directory / "kdc.log").read_text()) from None
                time.sleep(0.02)

    def stop(self):
        if self.process is not None:
            self.process.terminate()
            self.process.wait(timeout=20)
            self.process = None

    def asked(self, principal):
        """How often it was given a first ticket, by its key."""
        log = self.directory / "requests.log"
        return sum("AS_REQ" in line and "ISSUE" in line and f" {principal}@{self.realm} for" in line for line in log.read_text().splitlines())

    def keys(self, principal):
        """Those in its keytab, in hexadecimal digits."""
        done = subprocess.run(["klist", "-k", "-K", self.keytab(principal)], env=self.environment, text=True, capture_output=True)
        return re.findall(r"\(0x([0-9a-f]+)\)", done.stdout)

    def keytab(self, principal):
        return self.directory / (principal.replace("/", "-") + ".keytab")

    def cache(self, user):
        """The environment of a user with a ticket."""
        environment = self.without_ticket(user)
        done = subprocess.run([TOOLS["kinit"], "-k", "-t", self.keytab(user), f"{user}@{self.realm}"], env=environment, text=True, capture_output=True)
        if done.returncode != 0:
            raise AssertionError("kinit: " + done.stderr)
        return environment

    def without_ticket(self, user):
        return {**self.environment, "KRB5CCNAME": f"{self.directory}/{user}.cache"}  # Java takes no FILE: before it
