"""Certificates for pages by TLS: PEM by openssl, and Java's stores by a JDK's keytool."""
import shutil
import ssl
import subprocess

import peers

PASSWORD = "changeit"


class Certificates:
    """One key and a certificate that signs itself, for this machine's names."""

    def __init__(self, directory):
        self.directory = directory
        self.certificate, self.key = directory / "page.crt", directory / "page.key"
        self.keystore, self.truststore = directory / "keystore.jks", directory / "truststore.jks"
        self.make("first")

    def make(self, unit):
        """A new key and certificate in the place of the last; `unit` stands in its name."""
        for path, text in zip((self.certificate, self.key), self.made(unit)):
            fresh = path.with_suffix(".new")
            fresh.write_text(text)
            fresh.chmod(0o600)
            fresh.replace(path)

    def made(self, unit):
        certificate, key = self.directory / "made.crt", self.directory / "made.key"
        done = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-keyout", key,
                               "-out", certificate, "-subj", f"/CN=localhost/OU={unit}", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError("openssl: " + done.stderr)
        return certificate.read_text(), key.read_text()

    def trusting(self):
        return ssl.create_default_context(cafile=self.certificate)

    def keytool(self, *words):
        done = subprocess.run([shutil.which("keytool") or peers.java_home() + "/bin/keytool", *map(str, words)], capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError("keytool: " + done.stdout + done.stderr)

    def make_stores(self):
        """Java's own format, with another password for the key: what old clusters have. The PEM files become the same certificate."""
        if self.keystore.exists():
            return
        self.keytool("-genkeypair", "-alias", "page", "-keyalg", "RSA", "-keysize", "2048", "-validity", "2", "-dname", "CN=localhost", "-ext",
                     "san=dns:localhost,ip:127.0.0.1", "-storetype", "JKS", "-keystore", self.keystore, "-storepass", PASSWORD, "-keypass", "of the key")
        self.keytool("-exportcert", "-rfc", "-alias", "page", "-keystore", self.keystore, "-storepass", PASSWORD, "-file", self.certificate)
        self.keytool("-importcert", "-noprompt", "-alias", "page", "-storetype", "JKS", "-keystore", self.truststore, "-storepass", PASSWORD, "-file",
                     self.certificate)

    def make_pkcs12(self):
        """The PEM files as a store."""
        store = self.directory / "page.p12"
        subprocess.run(["openssl", "pkcs12", "-export", "-in", self.certificate, "-inkey", self.key, "-out", store, "-passout", f"pass:{PASSWORD}"], check=True,
                       capture_output=True)
        return store

    def write_sites(self, directory):
        peers.write_site(directory / "ssl-server.xml", {
            "ssl.server.keystore.location": self.keystore, "ssl.server.keystore.password": PASSWORD, "ssl.server.keystore.keypassword": "of the key",
            "ssl.server.keystore.type": "jks", "ssl.server.truststore.location": self.truststore, "ssl.server.truststore.password": PASSWORD})
        peers.write_site(directory / "ssl-client.xml", {
            "ssl.client.truststore.location": self.truststore, "ssl.client.truststore.password": PASSWORD, "ssl.client.truststore.type": "jks"})
