import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.*;
import java.util.stream.Collectors;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.hadoop.yarn.api.ContainerManagementProtocol;
import org.apache.hadoop.yarn.api.protocolrecords.*;
import org.apache.hadoop.yarn.api.records.*;

/** What a node makes of resources, of calls about running containers, and what a container's process finds. */
public class NodeSurface extends Surface {
  public static void main(String[] arguments) throws Exception {
    Puppet puppet = new Puppet(c -> {});
    puppet.register(1);
    switch (arguments[0]) {
      case "resources": resources(puppet); break;
      case "localize": localize(puppet); break;
      case "restart": restart(puppet); break;
      case "process": process(puppet); break;
      case "launch": launchFailures(puppet); break;
      default: throw new IllegalArgumentException(arguments[0]);
    }
    puppet.end(1, FinalApplicationStatus.SUCCEEDED, "");
    System.exit(0);
  }

  static LocalResource resource(String scheme, String path, LocalResourceType type, LocalResourceVisibility visibility, long time) {
    return LocalResource.newInstance(URL.newInstance(scheme, null, -1, path), type, visibility, 1, time);
  }

  static LocalResource file(Path path, LocalResourceType type, LocalResourceVisibility visibility) throws Exception {
    return resource("file", path.toString(), type, visibility, Files.getLastModifiedTime(path).toMillis());
  }

  static Path written(String name, byte[] bytes) throws Exception {
    Path path = Puppet.DIRECTORY.resolve(name);
    Files.write(path, bytes);
    return path;
  }

  static ContainerLaunchContext with(String command, Map<String, LocalResource> resources) {
    ContainerLaunchContext launch = Puppet.launch(command);
    launch.setLocalResources(new HashMap<>(resources));
    return launch;
  }

  private static final Map<String, ContainerLaunchContext> WANTED = new LinkedHashMap<>();
  private static final int TOGETHER = 20;  // containers that the node has room for

  static void want(String name, ContainerLaunchContext launch) {
    WANTED.put(name, launch);
  }

  static void attempt(String name, LocalResource resource) {
    want("resource." + name, with("find -L . -maxdepth 3 -type f ! -name '*.crc' ! -name 'default_*' ! -name launch_container.sh ! -name container_tokens "
        + "-printf '%p %s %m\\n' | sort > <LOG_DIR>/stderr; exit 1", Map.of("thing", resource)));
  }

  /** All wanted containers from their start to their end, as their master hears of them. */
  static void endAll(Puppet puppet) throws Exception {
    Map<ContainerId, String> names = new HashMap<>();
    Map<String, String> ends = new HashMap<>();
    for (Map.Entry<String, ContainerLaunchContext> wanted : WANTED.entrySet()) {
      if (names.size() >= TOGETHER) awaitEnds(puppet, names, ends);
      Container container = puppet.grants(1, 256, 1).get(0);
      try {
        StartContainersResponse started = puppet.start(1, container, wanted.getValue());
        if (started.getFailedRequests().isEmpty()) {
          names.put(container.getId(), wanted.getKey());
          continue;
        }
        ends.put(wanted.getKey(), "not started: " + MasterSurface.failures(started.getFailedRequests()));
      } catch (Exception e) {
        ends.put(wanted.getKey(), thrown(e));
      }
      puppet.allocate(1, null, List.of(container.getId()));
    }
    awaitEnds(puppet, names, ends);
    for (String name : WANTED.keySet()) {
      row(name, ends.get(name).replaceAll(",\\d{5,},", ",<t>,").replaceAll("container_(\\d+)_(\\d+)_01_\\d+", "<container>")
          .replaceAll("(?<=[/_])(\\d+)(?=/(broken|no-))", "<number>"));
    }
    WANTED.clear();
  }

  static void awaitEnds(Puppet puppet, Map<ContainerId, String> names, Map<String, String> ends) throws Exception {
    await("the ends of " + names, () -> {
      for (ContainerStatus s : puppet.allocate(1, null, null).getCompletedContainersStatuses()) {
        String name = names.remove(s.getContainerId());
        if (name != null) ends.put(name, "exit=" + s.getExitStatus() + " " + s.getDiagnostics());
      }
      return names.isEmpty();
    });
  }

  static byte[] zip(String... names) throws Exception {
    java.io.ByteArrayOutputStream out = new java.io.ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(out)) {
      for (String name : names) {
        zip.putNextEntry(new ZipEntry(name));
        zip.write(name.getBytes());
      }
    }
    return out.toByteArray();
  }

  static byte[] tar(boolean gzip, String... names) throws Exception {
    java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream();
    OutputStream out = gzip ? new GZIPOutputStream(bytes) : bytes;
    try (org.apache.commons.compress.archivers.tar.TarArchiveOutputStream tar = new org.apache.commons.compress.archivers.tar.TarArchiveOutputStream(out)) {
      for (String name : names) {
        org.apache.commons.compress.archivers.tar.TarArchiveEntry entry = new org.apache.commons.compress.archivers.tar.TarArchiveEntry(name, true);
        entry.setSize(name.length());
        tar.putArchiveEntry(entry);
        tar.write(name.getBytes());
        tar.closeArchiveEntry();
      }
    }
    return bytes.toByteArray();
  }

  /** Resources that are there, changed, broken, or not to be had. */
  static void resources(Puppet puppet) throws Exception {
    byte[] noise = "this is no archive of any kind, and long enough for every header; ".repeat(20).getBytes();
    Path plain = written("plain.txt", "text".getBytes());
    for (LocalResourceVisibility visibility : LocalResourceVisibility.values()) {
      attempt("good." + visibility, file(plain, LocalResourceType.FILE, visibility));
      attempt("missing." + visibility, resource("file", "/no-such/file", LocalResourceType.FILE, visibility, 1));
      attempt("changed." + visibility, resource("file", plain.toString(), LocalResourceType.FILE, visibility, 1234567890000L));
      attempt("broken-zip." + visibility, file(written("broken.zip", noise), LocalResourceType.ARCHIVE, visibility));
    }
    Path hidden = written("hidden.txt", "text".getBytes());
    Files.setPosixFilePermissions(hidden, java.nio.file.attribute.PosixFilePermissions.fromString("rw-------"));
    for (LocalResourceVisibility visibility : LocalResourceVisibility.values()) {
      attempt("not-public." + visibility, file(hidden, LocalResourceType.FILE, visibility));
    }
    LocalResourceVisibility own = LocalResourceVisibility.APPLICATION;
    attempt("broken-tar", file(written("broken.tar", noise), LocalResourceType.ARCHIVE, own));
    attempt("broken-tgz", file(written("broken.tgz", noise), LocalResourceType.ARCHIVE, own));
    attempt("broken-jar", file(written("broken.jar", noise), LocalResourceType.ARCHIVE, own));
    attempt("empty-zip", file(written("empty.zip", new byte[0]), LocalResourceType.ARCHIVE, own));
    attempt("good-zip", file(written("good.zip", zip("a", "d/b")), LocalResourceType.ARCHIVE, own));
    attempt("good-jar", file(written("good.jar", zip("a", "d/b")), LocalResourceType.ARCHIVE, own));
    attempt("good-tar", file(written("good.tar", tar(false, "a", "d/b")), LocalResourceType.ARCHIVE, own));
    attempt("good-tgz", file(written("good.tgz", tar(true, "a", "d/b")), LocalResourceType.ARCHIVE, own));
    attempt("no-archive-name", file(written("archive.bin", zip("a")), LocalResourceType.ARCHIVE, own));
    attempt("zip-as-file", file(written("as-file.zip", zip("a")), LocalResourceType.FILE, own));
    attempt("zip-as-pattern", file(written("as-pattern.zip", zip("a", "d/b")), LocalResourceType.PATTERN, own));
    attempt("leaving-zip", file(written("leaving.zip", zip("a", "../../out")), LocalResourceType.ARCHIVE, own));
    attempt("leaving-tar", file(written("leaving.tar", tar(false, "a", "../../out")), LocalResourceType.ARCHIVE, own));
    attempt("leaving-jar", file(written("leaving.jar", zip("a", "../../out")), LocalResourceType.ARCHIVE, own));
    for (String pattern : new String[] {"d/.*", "(", ""}) {
      LocalResource jar = file(written("pattern.jar", zip("a", "d/b", "d/c")), LocalResourceType.PATTERN, own);
      jar.setPattern(pattern);
      attempt("pattern-jar." + pattern, jar);
    }
    Path directory = Files.createDirectories(Puppet.DIRECTORY.resolve("directory"));
    written("directory/inner", "text".getBytes());
    attempt("directory", file(directory, LocalResourceType.FILE, own));
    attempt("directory-as-archive", file(directory, LocalResourceType.ARCHIVE, own));
    attempt("no-scheme", resource(null, plain.toString(), LocalResourceType.FILE, own, Files.getLastModifiedTime(plain).toMillis()));
    attempt("unknown-scheme", resource("nosuch", "/a", LocalResourceType.FILE, own, 1));
    attempt("unknown-scheme-public", resource("nosuch", "/a", LocalResourceType.FILE, LocalResourceVisibility.PUBLIC, 1));
    attempt("no-url", LocalResource.newInstance(null, LocalResourceType.FILE, own, 1, 1));
    want("resource.one-good-one-missing", with("true", Map.of("good", file(plain, LocalResourceType.FILE, own), "bad",
        resource("file", "/no-such/file", LocalResourceType.FILE, own, 1))));
    want("resource.two-links", with("cat one two sub/three > <LOG_DIR>/stderr; exit 1", Map.of("one",
        file(plain, LocalResourceType.FILE, own), "two", file(plain, LocalResourceType.FILE, own), "sub/three", file(plain, LocalResourceType.FILE, own))));
    endAll(puppet);
  }

  static Container running(Puppet puppet, ContainerLaunchContext launch) throws Exception {
    Container container = puppet.grants(1, 256, 1).get(0);
    puppet.start(1, container, launch);
    puppet.awaitRunning(container.getId());
    return container;
  }

  static String localization(ContainerManagementProtocol nm, ContainerId id) throws Exception {
    GetLocalizationStatusesResponse r = nm.getLocalizationStatuses(GetLocalizationStatusesRequest.newInstance(List.of(id)));
    List<LocalizationStatus> all = r.getLocalizationStatuses().getOrDefault(id, List.of());
    return all.stream().map(s -> s.getResourceKey() + "=" + s.getLocalizationState() + " " + s.getDiagnostics()).sorted().collect(Collectors.toList())
        + " failed=" + MasterSurface.failures(r.getFailedRequests());
  }

  static String diagnostics(ContainerManagementProtocol nm, ContainerId id) throws Exception {
    return nm.getContainerStatuses(GetContainerStatusesRequest.newInstance(List.of(id))).getContainerStatuses().get(0).getDiagnostics();
  }

  static void add(ContainerManagementProtocol nm, String name, ContainerId id, Map<String, LocalResource> resources) {
    call("localize." + name, () -> {
      nm.localize(ResourceLocalizationRequest.newInstance(id, new HashMap<>(resources)));
      return "accepted";
    });
  }

  /** Links that a running container finds in its working directory. */
  static String links(ContainerId id) throws Exception {
    for (Path local : work(id)) {
      try (java.util.stream.Stream<Path> all = Files.walk(local, 2)) {
        return all.filter(Files::isSymbolicLink).map(p -> local.relativize(p) + (Files.exists(p) ? "" : " (broken)")).sorted().collect(Collectors.toList()).toString();
      }
    }
    return "no working directory";
  }

  static List<Path> work(ContainerId id) throws Exception {
    return List.of(Path.of(variables(id).get("PWD_OF_CONTAINER")));
  }

  static Map<String, String> variables(ContainerId id) throws Exception {
    Map<String, String> found = new TreeMap<>();
    for (String line : Files.readAllLines(Puppet.DIRECTORY.resolve("env." + id))) {
      int equals = line.indexOf('=');
      if (equals > 0) found.put(line.substring(0, equals), line.substring(equals + 1));
    }
    return found;
  }

  static ContainerLaunchContext puppetLaunch(Map<String, LocalResource> resources) {
    ContainerLaunchContext launch = with("export PWD_OF_CONTAINER=\\$PWD; exec bash " + Puppet.DIRECTORY + "/puppet.sh 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr", resources);
    return launch;
  }

  /** ContainerManagementProtocol.localize on containers in each state. */
  static void localize(Puppet puppet) throws Exception {
    LocalResourceVisibility own = LocalResourceVisibility.APPLICATION;
    Path one = written("one.txt", "one".getBytes());
    Path two = written("two.zip", zip("a", "d/b"));
    Container container = running(puppet, puppetLaunch(Map.of("first", file(one, LocalResourceType.FILE, own))));
    ContainerId id = container.getId();
    ContainerManagementProtocol nm = puppet.node(1, container.getNodeId());
    call("localize.before", () -> links(id));
    call("localize.statuses-before", () -> localization(nm, id));
    add(nm, "nothing", id, Map.of());
    add(nm, "more", id, Map.of("second", file(one, LocalResourceType.FILE, LocalResourceVisibility.PRIVATE), "archive", file(two, LocalResourceType.ARCHIVE, own),
        "public", file(one, LocalResourceType.FILE, LocalResourceVisibility.PUBLIC)));
    await("three links", () -> links(id).split(",").length == 4);
    call("localize.links", () -> links(id));
    call("localize.statuses", () -> localization(nm, id));
    add(nm, "same-resource-other-link", id, Map.of("again", file(one, LocalResourceType.FILE, own)));
    Thread.sleep(2000);  // Hadoop may make the link or not, and says nothing of it
    call("localize.links-again", () -> links(id));
    add(nm, "same-link-other-resource", id, Map.of("second", file(two, LocalResourceType.FILE, own)));
    Thread.sleep(2000);
    call("localize.links-same", () -> links(id));
    call("localize.statuses-same", () -> localization(nm, id));
    add(nm, "missing", id, Map.of("lost", resource("file", "/no-such/file", LocalResourceType.FILE, own, 1)));
    await("the failure", () -> diagnostics(nm, id).contains("/no-such/file"));
    call("localize.diagnostics", () -> diagnostics(nm, id));
    call("localize.statuses-failed", () -> localization(nm, id));
    // Not PRIVATE: Hadoop's localizer of this container is gone after a failure, and no other takes its place.
    add(nm, "after-failure", id, Map.of("later", file(two, LocalResourceType.ARCHIVE, LocalResourceVisibility.PUBLIC)));
    await("the link", () -> links(id).contains("later"));
    call("localize.links-later", () -> links(id));
    call("localize.no-url", () -> {
      nm.localize(ResourceLocalizationRequest.newInstance(id, Map.of("x", LocalResource.newInstance(null, LocalResourceType.FILE, own, 1, 1))));
      return "accepted";
    });
    add(nm, "unknown", ContainerId.newContainerId(puppet.attempt(1), 77), Map.of());
    add(nm, "other-application", ContainerId.newContainerId(ApplicationAttemptId.newInstance(ApplicationId.newInstance(1, 1), 1), 1), Map.of());
    call("localize.state", () -> nm.getContainerStatuses(GetContainerStatusesRequest.newInstance(List.of(id))).getContainerStatuses().get(0).getState());
    Puppet.exit(id, 0);
    await("the end", () -> nm.getContainerStatuses(GetContainerStatusesRequest.newInstance(List.of(id))).getContainerStatuses().stream()
        .allMatch(s -> s.getState() == ContainerState.COMPLETE));
    add(nm, "ended", id, Map.of());
  }

  static long pid(ContainerId id) throws Exception {
    return Long.parseLong(Files.readString(Puppet.DIRECTORY.resolve("pid." + id)).trim());
  }

  static void again(ContainerManagementProtocol nm, String name, ContainerId id) {
    call("restart." + name, () -> {
      nm.restartContainer(id);
      return "accepted";
    });
  }

  /** ContainerManagementProtocol.restartContainer. */
  static void restart(Puppet puppet) throws Exception {
    Path one = written("one.txt", "one".getBytes());
    ContainerLaunchContext launch = with("echo \\$\\$ >> runs; cp runs " + Puppet.DIRECTORY + "/runs.$CONTAINER_ID; export PWD_OF_CONTAINER=\\$PWD; exec bash "
        + Puppet.DIRECTORY + "/puppet.sh 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr", Map.of("first", file(one, LocalResourceType.FILE, LocalResourceVisibility.APPLICATION)));
    Container container = running(puppet, launch);
    ContainerId id = container.getId();
    ContainerManagementProtocol nm = puppet.node(1, container.getNodeId());
    Path runs = Puppet.DIRECTORY.resolve("runs." + id);
    String first = Files.readString(runs).trim();
    add(nm, "before-restart", id, Map.of("second", file(one, LocalResourceType.FILE, LocalResourceVisibility.PRIVATE)));
    await("the link", () -> links(id).contains("second"));
    again(nm, "first", id);
    await("a second process", () -> Files.readAllLines(runs).size() == 2 || !Files.readString(runs).trim().equals(first));
    await("to run", () -> MasterSurface.statuses(nm.getContainerStatuses(GetContainerStatusesRequest.newInstance(List.of(id)))).contains(" RUNNING RUNNING "));
    call("restart.working-directory", () -> Files.readAllLines(runs).size() + " runs, links " + links(id));
    call("restart.status", () -> MasterSurface.statuses(nm.getContainerStatuses(GetContainerStatusesRequest.newInstance(List.of(id)))));
    call("restart.localization", () -> localization(nm, id));
    again(nm, "unknown", ContainerId.newContainerId(puppet.attempt(1), 77));
    again(nm, "other-application", ContainerId.newContainerId(ApplicationAttemptId.newInstance(ApplicationId.newInstance(1, 1), 1), 1));
    call("restart.rollback", () -> nm.rollbackLastReInitialization(id).getClass().getSimpleName());
    call("restart.commit", () -> nm.commitLastReInitialization(id).getClass().getSimpleName());
    Puppet.exit(id, 5);
    List<ContainerStatus> seen = new ArrayList<>();
    await("the end", () -> {
      seen.addAll(puppet.allocate(1, null, null).getCompletedContainersStatuses());
      return !seen.isEmpty();
    });
    call("restart.end", () -> "exit=" + seen.get(0).getExitStatus() + " " + seen.get(0).getDiagnostics());
    again(nm, "ended", id);
  }

  /** Containers that cannot be started. */
  static void launchFailures(Puppet puppet) throws Exception {
    want("launch.no-command", ContainerLaunchContext.newInstance(null, null, null, null, null, null));
    want("launch.no-such-program", Puppet.launch("/no/such/program"));
    want("launch.syntax", Puppet.launch("if"));
    want("launch.says", Puppet.launch("echo a line; echo a word >&2; echo other > <LOG_DIR>/stderr; exit 3"));
    want("launch.killed", Puppet.launch("kill -9 \\$\\$"));
    for (String name : new String[] {"2bad", "with space", "", "semi;colon", "a-b", "a.b"}) {
      want("launch.variable." + name, ContainerLaunchContext.newInstance(null, new HashMap<>(Map.of(name, "x")), List.of("true"), null, null, null));
    }
    for (String value : new String[] {"a\"b", "$(exit 9)", "back\\slash", "`false`", "new\nline", "${UNSET:?no}"}) {
      want("launch.value." + value.replace((char) 10, (char) 32), ContainerLaunchContext.newInstance(null, new HashMap<>(Map.of("V", value)), List.of("echo $V > <LOG_DIR>/stderr; exit 1"), null, null, null));
    }
    for (String tokens : new String[] {"HDTS", "HDTS\u0007", "no tokens"}) {
      ContainerLaunchContext launch = Puppet.launch("true");
      launch.setTokens(ByteBuffer.wrap(tokens.getBytes()));
      want("launch.tokens." + tokens.replaceAll("\\W", "."), launch);
    }
    ContainerLaunchContext retried = Puppet.launch("echo again >> " + Puppet.DIRECTORY + "/retries; exit 4");
    retried.setContainerRetryContext(ContainerRetryContext.newInstance(ContainerRetryPolicy.RETRY_ON_ALL_ERRORS, null, 2, 0));
    want("launch.retried", retried);
    endAll(puppet);
    call("launch.retries", () -> Files.readAllLines(Puppet.DIRECTORY.resolve("retries")).size());
  }

  /** What a container's process finds: environment, working directory, launch script. */
  static void process(Puppet puppet) throws Exception {
    Path one = written("one.txt", "one".getBytes());
    ContainerLaunchContext launch = puppetLaunch(Map.of("first", file(one, LocalResourceType.FILE, LocalResourceVisibility.APPLICATION)));
    launch.setEnvironment(new HashMap<>(Map.of("MINE", "value", "TWICE", "$MINE:{{MINE}}<CPS>x", "LOGS", "<LOG_DIR>/x", "HOME", "/my/home", "USER", "nobody",
        "JAVA_HOME", "/my/java", "MALLOC_ARENA_MAX", "7", "CLASSPATH", "{{PWD}}<CPS>{{HADOOP_CONF_DIR}}")));
    launch.setServiceData(Map.of("mapreduce_shuffle", ByteBuffer.wrap(new byte[] {0, 0, 0, 0})));
    Container container = running(puppet, launch);
    ContainerId id = container.getId();
    Path work = work(id).get(0);
    for (Map.Entry<String, String> e : variables(id).entrySet()) {
      if (e.getKey().equals("LS_COLORS")) continue;
      row("process.env." + e.getKey(), shape(e.getValue(), id));
    }
    try (java.util.stream.Stream<Path> all = Files.list(work)) {
      for (Path p : all.sorted().collect(Collectors.toList())) {
        row("process.file." + p.getFileName(), java.nio.file.attribute.PosixFilePermissions.toString(Files.getPosixFilePermissions(p))
            + (Files.isSymbolicLink(p) ? " -> " + shape(Files.readSymbolicLink(p).toString(), id) : ""));
      }
    }
    int line = 0;
    for (String text : Files.readAllLines(work.resolve("launch_container.sh"))) {
      row("process.script." + String.format("%03d", ++line), shape(text, id));
    }
    Puppet.exit(id, 0);
  }

  static String shape(String text, ContainerId id) {
    return text.replaceAll("/\\S*?/(nm\\d|tmp/nm)-(local|logs)", "<$2>").replaceAll("(?<=filecache/)\\d+(?=/)", "<number>").replace(id.toString(), "<container>")
        .replace(id.getApplicationAttemptId().getApplicationId().toString(), "<application>").replaceAll("\\b\\d{4,}\\b", "<n>")
        .replaceAll("/\\S*/cluster-[^/:\" ]*", "<cluster>").replaceAll("(COUNTERS=\"?|^)\\d+(,\\d+){4}", "$1<counters>");
  }
}
