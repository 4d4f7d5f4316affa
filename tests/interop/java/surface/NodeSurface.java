import java.nio.file.Files;
import java.nio.file.Path;
import java.util.*;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.hadoop.yarn.api.ContainerManagementProtocol;
import org.apache.hadoop.yarn.api.protocolrecords.*;
import org.apache.hadoop.yarn.api.records.*;

/** Calls about running containers: more resources, a new start. */
public class NodeSurface extends Surface {
  public static void main(String[] arguments) throws Exception {
    Puppet puppet = new Puppet(c -> {});
    puppet.register(1);
    switch (arguments[0]) {
      case "localize": localize(puppet); break;
      case "restart": restart(puppet); break;
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
}
