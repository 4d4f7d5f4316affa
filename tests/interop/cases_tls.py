"""Hadoop's own clients on a cluster whose pages are HTTPS, with Hadoop's files and Java's key stores."""
import urllib.error
import urllib.request

from cases_mapreduce import tera_sort
from registry import Spec, case, require_success


@case("all", spec=Spec(nodes=("fairlead",), history=False, https="jks"), own_cluster=True)
def tls_pages_for_hadoops_clients(cluster, work):
    """`yarn application -list`; `yarn logs` of a running application reads REST of manager and node over TLS, by ssl-client.xml."""
    app = cluster.submit_sleeper()
    cluster.wait(lambda: cluster.has_container(app), "the container", 60)
    listed = cluster.java("org.apache.hadoop.yarn.client.cli.ApplicationCLI", "application", "-list", timeout=180)
    require_success(listed, "yarn application -list")
    assert app in listed.stdout, listed.stdout
    logs = cluster.java("org.apache.hadoop.yarn.client.cli.LogsCLI", "-applicationId", app, "-am", "1", "-log_files", "prelaunch.out", timeout=180)
    require_success(logs, "yarn logs")
    assert "LogType:prelaunch.out" in logs.stdout, logs.stdout + logs.stderr[-3000:]
    try:
        urllib.request.urlopen(cluster.page("/").replace("https", "http"), timeout=10)
        raise AssertionError("plain HTTP was answered")
    except urllib.error.HTTPError as error:
        assert error.code == 400, error


@case("all", spec=Spec(nodes=("fairlead", "fairlead"), history=False, https="jks", yarn_site=(("mapreduce.shuffle.ssl.enabled", "true"),)), own_cluster=True)
def tls_map_outputs(cluster, work):
    """Hadoop's reducers fetch by HTTPS, and trust by ssl-client.xml."""
    tera_sort(cluster, work)
