import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.*;
import java.util.stream.Collectors;
import org.apache.hadoop.security.SecurityUtil;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.ApplicationMasterProtocol;
import org.apache.hadoop.yarn.api.ContainerManagementProtocol;
import org.apache.hadoop.yarn.api.protocolrecords.*;
import org.apache.hadoop.yarn.api.records.*;
import org.apache.hadoop.yarn.security.ContainerTokenIdentifier;

/** Masters that behave badly, and what becomes of their applications. */
public class MasterSurface extends Surface {
  public static void main(String[] arguments) throws Exception {
    switch (arguments[0]) {
      case "processes": processes(); break;
      case "order": order(); break;
      case "asks": asks(); break;
      case "releases": releases(); break;
      case "tokens": tokens(); break;
      case "node-calls": nodeCalls(); break;
      case "unmanaged": unmanaged(); break;
      case "kept-containers": keptContainers(); break;
      case "silent": silent(); break;
      case "late": late(); break;
      default: throw new IllegalArgumentException(arguments[0]);
    }
    System.exit(0);
  }

  static String ended(ApplicationId id) throws Exception {
    ApplicationReport r = awaitState(id, ENDED);
    return brief(r) + " attempts=" + CLIENT.getApplicationAttempts(id).stream()
        .map(a -> a.getYarnApplicationAttemptState().toString().replace("FINISHING", "FINISHED") + " " + a.getDiagnostics()).collect(Collectors.toList());
  }

  /** Masters whose process ends. */
  static void processes() throws Exception {
    Object[][] commands = {{"exit-0", "true"}, {"exit-3", "exit 3"}, {"killed", "kill -9 $$"}, {"terminated", "kill -15 $$"},
        {"no-such-program", "/no/such/program"}, {"says", "echo one line; echo a word >&2; exit 1"}, {"syntax", "if"}, {"empty", ""}};
    for (Object[] command : commands) {
      call("master." + command[0], () -> ended(new Puppet(c -> c.setAMContainerSpec(Puppet.launch((String) command[1]))).id));
    }
    call("master.two-attempts", () -> ended(new Puppet(c -> {
      c.setMaxAppAttempts(2);
      c.setAMContainerSpec(Puppet.launch("exit 7"));
    }).id));
    call("master.no-commands", () -> ended(new Puppet(c -> c.setAMContainerSpec(
        ContainerLaunchContext.newInstance(null, null, null, null, null, null))).id));
    call("master.missing-resource", () -> ended(new Puppet(c -> {
      ContainerLaunchContext launch = Puppet.launch("true");
      launch.setLocalResources(Map.of("thing", LocalResource.newInstance(URL.newInstance("file", null, -1, "/no/such/file"),
          LocalResourceType.FILE, LocalResourceVisibility.APPLICATION, 1, 1)));
      c.setAMContainerSpec(launch);
    }).id));
    call("master.changed-resource", () -> {
      java.nio.file.Path file = Puppet.DIRECTORY.resolve("changed");
      Files.writeString(file, "text");
      return ended(new Puppet(c -> {
        ContainerLaunchContext launch = Puppet.launch("true");
        launch.setLocalResources(Map.of("thing", LocalResource.newInstance(URL.newInstance("file", null, -1, file.toString()),
            LocalResourceType.FILE, LocalResourceVisibility.APPLICATION, 4, 1234567890000L)));
        c.setAMContainerSpec(launch);
      }).id);
    });
    call("master.unknown-aux-service", () -> ended(new Puppet(c -> {
      ContainerLaunchContext launch = Puppet.launch("true");
      launch.setServiceData(Map.of("no_such_service", ByteBuffer.allocate(1)));
      c.setAMContainerSpec(launch);
    }).id));
    call("master.too-much-memory", () -> ended(new Puppet(c -> c.setAMContainerSpec(
        Puppet.launch("x=\\$(yes some-text | head -c 500000000); sleep 1000"))).id)
        .replaceAll("pid=\\d+", "pid=<pid>").replaceAll("[0-9.]+ [GM]B of", "<n> of").replaceAll("[0-9]+B (beyond|of)", "<n>B $1")
        .replaceAll("(?s)Dump of the process-tree.*?Container killed", "<dump> Container killed"));
    call("master.bad-tokens", () -> ended(new Puppet(c -> {
      ContainerLaunchContext launch = Puppet.launch("true");
      launch.setTokens(ByteBuffer.wrap(new byte[] {1, 2, 3, 4, 5, 6}));
      c.setAMContainerSpec(launch);
    }).id));
    call("master.registers-and-dies", () -> {
      Puppet puppet = new Puppet(c -> {});
      puppet.register(1);
      Puppet.exit(puppet.master(1), 5);
      return ended(puppet.id);
    });
    call("master.registers-and-leaves-with-0", () -> {
      Puppet puppet = new Puppet(c -> {});
      puppet.register(1);
      Puppet.exit(puppet.master(1), 0);
      return ended(puppet.id);
    });
    for (FinalApplicationStatus status : FinalApplicationStatus.values()) {
      call("master.finishes-" + status, () -> {
        Puppet puppet = new Puppet(c -> {});
        puppet.register(1);
        puppet.end(1, status, "because");
        return ended(puppet.id);
      });
    }
  }

  /** Calls that come too early, too late, twice. */
  static void order() throws Exception {
    Puppet puppet = new Puppet(c -> {});
    call("order.allocate-before-register", () -> puppet.allocate(1, null, null));
    call("order.finish-before-register", () -> puppet.finish(1, FinalApplicationStatus.SUCCEEDED, ""));
    call("order.register", () -> registered(puppet.register(1)));
    call("order.register-twice", () -> puppet.register(1));
    call("order.state-after-second-register", () -> CLIENT.getApplicationReport(puppet.id).getYarnApplicationState());
    call("order.first-allocate", () -> allocated(puppet.allocate(1, null, null)));
    call("order.old-response-id", () -> puppet.allocate(1, AllocateRequest.newInstance(0, 0.5f, null, null, null)).getResponseId());
    call("order.future-response-id", () -> puppet.allocate(1, AllocateRequest.newInstance(17, 0.5f, null, null, null)).getResponseId());
    call("order.negative-response-id", () -> puppet.allocate(1, AllocateRequest.newInstance(-4, 0.5f, null, null, null)).getResponseId());
    puppet.response = 1;
    for (float progress : new float[] {Float.NaN, -1, 2, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, 0.25f}) {
      call("order.progress." + progress, () -> {
        puppet.allocate(1, AllocateRequest.newInstance(puppet.response, progress, null, null, null));
        return CLIENT.getApplicationReport(puppet.id).getProgress();
      });
    }
    call("order.finish", () -> {
      await("unregistration", () -> puppet.finish(1, FinalApplicationStatus.SUCCEEDED, "fine").getIsUnregistered());
      return brief(CLIENT.getApplicationReport(puppet.id));
    });
    call("order.finish-again", () -> puppet.finish(1, FinalApplicationStatus.FAILED, "no").getIsUnregistered());
    call("order.register-after-finish", () -> puppet.register(1));
    puppet.response = 0;
    call("order.allocate-after-finish", () -> allocated(puppet.allocate(1, null, null)));
    Puppet.exit(puppet.master(1), 0);
    call("order.final", () -> ended(puppet.id));
    Puppet dead = new Puppet(c -> {});
    dead.register(1);
    CLIENT.killApplication(dead.id);
    awaitState(dead.id, ENDED);
    call("order.allocate-after-kill", () -> dead.allocate(1, null, null));
    call("order.register-after-kill", () -> dead.register(1));
    call("order.finish-after-kill", () -> dead.finish(1, FinalApplicationStatus.SUCCEEDED, "").getIsUnregistered());
    Puppet retried = new Puppet(c -> c.setMaxAppAttempts(2));
    retried.register(1);
    retried.caller(1);
    ApplicationMasterProtocol open = retried.protocol(1);
    Puppet.exit(retried.master(1), 9);
    retried.register(2);
    call("order.old-attempt-over-open-connection", () -> open.allocate(AllocateRequest.newInstance(0, 0, null, null, null)));
    call("order.old-attempt", () -> retried.allocate(1, AllocateRequest.newInstance(0, 0, null, null, null)));
    call("order.old-attempt-registers", () -> retried.protocol(1).registerApplicationMaster(RegisterApplicationMasterRequest.newInstance("h", 1, "")));
    retried.response = 0;
    retried.end(2, FinalApplicationStatus.SUCCEEDED, "second try");
    call("order.retried", () -> ended(retried.id));
  }

  static String registered(RegisterApplicationMasterResponse r) {
    return "maximum=" + r.getMaximumResourceCapability() + " acls=" + r.getApplicationACLs() + " key=" + r.getClientToAMTokenMasterKey() + " queue="
        + r.getQueue() + " containers=" + r.getContainersFromPreviousAttempts() + " tokens=" + r.getNMTokensFromPreviousAttempts() + " types="
        + r.getSchedulerResourceTypes() + " profiles=" + r.getResourceProfiles() + " resources=" + r.getResourceTypes();
  }

  static String allocated(AllocateResponse r) {
    return "id=" + r.getResponseId() + " command=" + r.getAMCommand() + " containers=" + r.getAllocatedContainers().size() + " completed="
        + r.getCompletedContainersStatuses().size() + " nodes=" + r.getUpdatedNodes().size() + " cluster=" + r.getNumClusterNodes() + " preemption="
        + r.getPreemptionMessage() + " tokens=" + r.getNMTokens().size() + " token=" + r.getAMRMToken() + " limit=" + r.getAvailableResources()
        + " priority=" + r.getApplicationPriority() + " collector=" + r.getCollectorInfo() + " errors=" + r.getUpdateErrors() + " updated="
        + r.getUpdatedContainers() + " rejected=" + r.getRejectedSchedulingRequests() + " previous=" + r.getContainersFromPreviousAttempts();
  }

  /** The same without what depends on how often was polled and what else runs. */
  static String answered(AllocateResponse r) {
    return allocated(r).replaceAll("id=\\d+ ", "").replaceAll("limit=<[^>]*>", "");
  }

  static void ask(Puppet puppet, String name, ResourceRequest... asks) {
    call("ask." + name, () -> {
      int granted = 0;
      String first = null;
      for (int round = 0; round < 4 && granted == 0; ++round) {
        AllocateResponse answer = puppet.allocate(1, round == 0 ? List.of(asks) : null, null);
        granted += answer.getAllocatedContainers().size();
        for (Container c : answer.getAllocatedContainers()) {
          first = c.getResource() + " priority=" + c.getPriority() + " request=" + c.getAllocationRequestId() + " type=" + c.getExecutionType() + " version="
              + c.getVersion() + " tags=" + c.getAllocationTags();
          puppet.allocate(1, null, List.of(c.getId()));
        }
        if (granted == 0 && !name.startsWith("never")) Thread.sleep(1000);
      }
      return granted + " " + first;
    });
  }

  static void asks() throws Exception {
    Puppet puppet = new Puppet(c -> c.setQueue("root.beta"));
    puppet.register(1);
    Priority one = Priority.newInstance(1);
    ask(puppet, "one", Puppet.ask(1, 256, 1));
    ask(puppet, "rounded-up", Puppet.ask(1, 257, 1));
    ask(puppet, "nothing", ResourceRequest.newInstance(one, "*", Resource.newInstance(0, 0), 1));
    ask(puppet, "never-above-maximum", Puppet.ask(1, 1 << 20, 1));
    ask(puppet, "never-too-many-cores", ResourceRequest.newInstance(one, "*", Resource.newInstance(256, 5000), 1));
    ask(puppet, "never-negative-memory", Puppet.ask(1, -1, 1));
    ask(puppet, "never-negative-cores", ResourceRequest.newInstance(one, "*", Resource.newInstance(256, -1), 1));
    ask(puppet, "never-negative-count", Puppet.ask(1, 256, -3));
    ask(puppet, "never-zero-count", Puppet.ask(1, 256, 0));
    ask(puppet, "never-label", ResourceRequest.newInstance(one, "*", Resource.newInstance(256, 1), 1, true, "gpu"));
    ask(puppet, "never-no-capability", ResourceRequest.newInstance(one, "*", null, 1));
    ask(puppet, "never-no-name", ResourceRequest.newInstance(one, null, Resource.newInstance(256, 1), 1));
    ask(puppet, "never-strict-unknown-host", ResourceRequest.newInstance(one, "nohost", Resource.newInstance(256, 1), 1, false),
        ResourceRequest.newInstance(one, "/default-rack", Resource.newInstance(256, 1), 1, false),
        ResourceRequest.newInstance(one, "*", Resource.newInstance(256, 1), 1, false));
    ask(puppet, "never-zero-count-again", ResourceRequest.newInstance(one, "nohost", Resource.newInstance(256, 1), 0, false),
        ResourceRequest.newInstance(one, "/default-rack", Resource.newInstance(256, 1), 0, false),
        ResourceRequest.newInstance(one, "*", Resource.newInstance(256, 1), 0, true));
    ask(puppet, "request-id", ResourceRequest.newBuilder().priority(Priority.newInstance(8)).resourceName("*")
        .capability(Resource.newInstance(256, 1)).numContainers(1).allocationRequestId(42).build());
    ask(puppet, "never-opportunistic", ResourceRequest.newBuilder().priority(Priority.newInstance(9)).resourceName("*")
        .capability(Resource.newInstance(256, 1)).numContainers(1).executionTypeRequest(ExecutionTypeRequest.newInstance(ExecutionType.OPPORTUNISTIC)).build());
    call("ask.never-opportunistic-off", () -> puppet.allocate(1, List.of(ResourceRequest.newBuilder().priority(Priority.newInstance(9)).resourceName("*")
        .capability(Resource.newInstance(256, 1)).numContainers(0).build()), null).getAllocatedContainers().size());
    for (String name : new String[] {"*", "nohost", "", "/norack"}) {
      call("blacklist." + name, () -> puppet.allocate(1, AllocateRequest.newInstance(puppet.response, 0.5f, null, null,
          ResourceBlacklistRequest.newInstance(List.of(name), null))).getAllocatedContainers().size());
    }
    puppet.end(1, FinalApplicationStatus.SUCCEEDED, "");
  }

  static void releases() throws Exception {
    Puppet mine = new Puppet(c -> {});
    Puppet other = new Puppet(c -> c.setQueue("root.beta"));
    mine.register(1);
    other.register(1);
    Container granted = mine.grants(1, 256, 1).get(0);
    call("release.unknown", () -> answered(mine.allocate(1, null, List.of(ContainerId.newContainerId(mine.attempt(1), 99)))));
    call("release.another's", () -> mine.allocate(1, null, List.of(other.master(1))));
    call("release.later-attempt's", () -> mine.allocate(1, null, List.of(ContainerId.newContainerId(mine.attempt(2), 1))));
    call("release.not-started", () -> completed(mine, granted.getId(), mine.allocate(1, null, List.of(granted.getId()))));
    call("release.again", () -> answered(mine.allocate(1, null, List.of(granted.getId()))));
    Container running = mine.grants(1, 256, 1).get(0);
    mine.start(1, running, Puppet.launch());
    mine.awaitRunning(running.getId());
    call("release.running", () -> completed(mine, running.getId(), mine.allocate(1, null, List.of(running.getId()))));
    Container dying = mine.grants(1, 256, 1).get(0);
    mine.start(1, dying, Puppet.launch());
    mine.awaitRunning(dying.getId());
    Puppet.exit(dying.getId(), 42);
    call("container.exit-42", () -> completed(mine, dying.getId(), mine.allocate(1, null, null)));
    Container unstarted = mine.grants(1, 256, 1).get(0);
    call("container.killed-with-application", () -> {
      CLIENT.killApplication(mine.id);
      ended(mine.id);
      return unstarted.getId().getContainerId();
    });
    call("release.master", () -> {
      other.allocate(1, null, List.of(other.master(1)));
      return ended(other.id);
    });
  }

  static String completed(Puppet puppet, ContainerId id, AllocateResponse first) throws Exception {
    List<ContainerStatus> seen = new ArrayList<>(first.getCompletedContainersStatuses());
    await("the end of " + id, () -> {
      if (seen.isEmpty()) seen.addAll(puppet.allocate(1, null, null).getCompletedContainersStatuses());
      return !seen.isEmpty();
    });
    ContainerStatus s = seen.get(0);
    return seen.size() + " " + s.getContainerId() + " " + s.getState() + " exit=" + s.getExitStatus() + " diagnostics=" + s.getDiagnostics() + " capability="
        + s.getCapability() + " type=" + s.getExecutionType();
  }

  /** AMRM tokens that are not what they should be. */
  static void tokens() throws Exception {
    Puppet puppet = new Puppet(c -> {});
    puppet.register(1);
    org.apache.hadoop.security.token.Token<?> good = puppet.caller(1).getTokens().iterator().next();
    call("token.no-token", () -> Puppet.protocol(UserGroupInformation.createRemoteUser("nobody")).allocate(AllocateRequest.newInstance(0, 0, null, null, null)));
    call("token.wrong-password", () -> with(good, good.getIdentifier(), flip(good.getPassword())));
    call("token.changed-identifier", () -> with(good, flip(good.getIdentifier()), good.getPassword()));
    call("token.garbage", () -> with(good, new byte[] {1, 2, 3, 4}, new byte[] {5}));
    call("token.empty", () -> with(good, new byte[0], new byte[0]));
    call("token.good-still", () -> puppet.allocate(1, null, null).getResponseId());
    puppet.end(1, FinalApplicationStatus.SUCCEEDED, "");
    call("token.after-end", () -> with(good, good.getIdentifier(), good.getPassword()));
  }

  static byte[] flip(byte[] bytes) {
    byte[] changed = bytes.clone();
    changed[changed.length - 1] ^= 1;  // the end of a number: the rest still parses
    return changed;
  }

  /** One bit of the user's name in a container token's identifier. */
  static byte[] otherUser(byte[] identifier) {
    byte[] changed = identifier.clone();
    changed[new String(identifier, java.nio.charset.StandardCharsets.ISO_8859_1).indexOf(System.getProperty("user.name"))] ^= 1;
    return changed;
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  static Object with(org.apache.hadoop.security.token.Token<?> like, byte[] identifier, byte[] password) throws Exception {
    org.apache.hadoop.security.token.Token token = new org.apache.hadoop.security.token.Token(identifier, password, like.getKind(),
        SecurityUtil.buildTokenService(Puppet.scheduler()));
    UserGroupInformation caller = UserGroupInformation.createRemoteUser("token-" + System.nanoTime());
    caller.addToken(token);
    return Puppet.protocol(caller).allocate(AllocateRequest.newInstance(1, 0, null, null, null)).getResponseId();
  }

  static Token changed(Token like, java.util.function.UnaryOperator<byte[]> identifier, java.util.function.UnaryOperator<byte[]> password) {
    return Token.newInstance(identifier.apply(bytes(like.getIdentifier())), like.getKind(), password.apply(bytes(like.getPassword())), like.getService());
  }

  static byte[] bytes(ByteBuffer buffer) {
    byte[] copy = new byte[buffer.remaining()];
    buffer.duplicate().get(copy);
    return copy;
  }

  static String started(StartContainersResponse r) {
    return "started=" + r.getSuccessfullyStartedContainers() + " failed=" + failures(r.getFailedRequests()) + " services=" + new TreeSet<>(r.getAllServicesMetaData().keySet());
  }

  static String failures(Map<ContainerId, SerializedException> failed) {
    return failed.entrySet().stream().map(e -> e.getKey() + " " + thrown(e.getValue().deSerialize())).sorted().collect(Collectors.toList()).toString()
        .replaceAll("current time is \\d+ found \\d+", "current time is <now> found <then>");
  }

  /** ContainerManagementProtocol with wrong tokens, wrong containers, wrong nodes. */
  static void nodeCalls() throws Exception {
    Puppet mine = new Puppet(c -> {});
    Puppet other = new Puppet(c -> c.setQueue("root.beta"));
    mine.register(1);
    other.register(1);
    List<Container> granted = mine.grants(1, 256, 6);
    Container foreign = other.grants(1, 256, 1).get(0);
    Container first = granted.get(0);
    NodeId node = first.getNodeId();
    List<Container> here = granted.stream().filter(c -> c.getNodeId().equals(node)).collect(Collectors.toList());
    Container elsewhere = granted.stream().filter(c -> !c.getNodeId().equals(node)).findFirst().get();
    ContainerManagementProtocol nm = mine.node(1, node);
    call("nm.start", () -> started(start(nm, first.getContainerToken())));
    mine.awaitRunning(first.getId());
    call("nm.start-again", () -> started(start(nm, first.getContainerToken())));
    call("nm.start-another-node's", () -> started(start(nm, elsewhere.getContainerToken())));
    call("nm.start-changed-identifier", () -> started(start(nm, changed(here.get(1).getContainerToken(), MasterSurface::otherUser, b -> b))));
    call("nm.start-changed-password", () -> started(start(nm, changed(here.get(1).getContainerToken(), b -> b, MasterSurface::flip))));
    call("nm.start-garbage-token", () -> started(start(nm, changed(here.get(1).getContainerToken(), b -> new byte[] {9, 9}, b -> b))));
    call("nm.start-no-token", () -> started(nm.startContainers(StartContainersRequest.newInstance(List.of(StartContainerRequest.newInstance(Puppet.launch(), null))))));
    call("nm.start-none", () -> started(nm.startContainers(StartContainersRequest.newInstance(List.of()))));
    call("nm.start-foreign", () -> started(start(nm, foreign.getContainerToken())).replaceAll("Given Container .* is not valid.*", "another node's"));
    call("nm.start-unknown-aux-service", () -> {
      ContainerLaunchContext launch = Puppet.launch();
      launch.setServiceData(Map.of("no_such_service", ByteBuffer.allocate(1)));
      return started(nm.startContainers(StartContainersRequest.newInstance(List.of(StartContainerRequest.newInstance(launch, here.get(1).getContainerToken())))));
    });
    call("nm.status", () -> statuses(nm.getContainerStatuses(GetContainerStatusesRequest.newInstance(List.of(first.getId())))));
    call("nm.status-unknown", () -> statuses(nm.getContainerStatuses(GetContainerStatusesRequest.newInstance(List.of(ContainerId.newContainerId(mine.attempt(1), 77))))));
    call("nm.status-another's", () -> statuses(nm.getContainerStatuses(GetContainerStatusesRequest.newInstance(List.of(other.master(1))))));
    call("nm.stop-another's", () -> stopped(nm.stopContainers(StopContainersRequest.newInstance(List.of(other.master(1))))));
    call("nm.stop-unknown", () -> stopped(nm.stopContainers(StopContainersRequest.newInstance(List.of(ContainerId.newContainerId(mine.attempt(1), 77))))));
    call("nm.localization", () -> nm.getLocalizationStatuses(GetLocalizationStatusesRequest.newInstance(List.of(first.getId()))).getLocalizationStatuses());
    call("nm.stop", () -> stopped(nm.stopContainers(StopContainersRequest.newInstance(List.of(first.getId())))));
    await("the stop", () -> {
      GetContainerStatusesResponse r = nm.getContainerStatuses(GetContainerStatusesRequest.newInstance(List.of(first.getId())));
      return r.getContainerStatuses().isEmpty() || r.getContainerStatuses().get(0).getState() == ContainerState.COMPLETE;
    });
    call("nm.status-ended", () -> statuses(nm.getContainerStatuses(GetContainerStatusesRequest.newInstance(List.of(first.getId())))));
    call("nm.stop-ended", () -> stopped(nm.stopContainers(StopContainersRequest.newInstance(List.of(first.getId())))));
    call("nm.start-ended", () -> started(start(nm, first.getContainerToken())));
    Token nmToken = mine.nmTokens.get(node);
    Token otherToken = other.nmTokens.get(node);
    beat(mine, other);
    call("nm.no-nm-token", () -> Puppet.node(mine.attempt(1).toString(), node, null).getContainerStatuses(GetContainerStatusesRequest.newInstance(List.of())));
    call("nm.nm-token-changed", () -> Puppet.node("a", node, changed(nmToken, b -> b, MasterSurface::flip)).getContainerStatuses(GetContainerStatusesRequest.newInstance(List.of())));
    beat(mine, other);
    call("nm.nm-token-garbage", () -> Puppet.node("b", node, changed(nmToken, b -> new byte[] {1, 2}, b -> b)).getContainerStatuses(GetContainerStatusesRequest.newInstance(List.of())));
    beat(mine, other);
    call("nm.nm-token-of-another-node", () -> Puppet.node("c", node, mine.nmTokens.get(elsewhere.getNodeId())).getContainerStatuses(GetContainerStatusesRequest.newInstance(List.of())));
    beat(mine, other);
    call("nm.nm-token-of-another-application", () -> {
      if (otherToken == null) other.grants(1, 256, 8);
      return started(start(Puppet.node(other.attempt(1).toString(), node, other.nmTokens.get(node)), here.get(1).getContainerToken()));
    });
    beat(mine, other);
    call("nm.still-starts", () -> started(start(nm, here.get(1).getContainerToken())));
    mine.end(1, FinalApplicationStatus.SUCCEEDED, "");
    call("nm.start-after-end", () -> started(start(mine.node(1, elsewhere.getNodeId()), elsewhere.getContainerToken())));
    other.end(1, FinalApplicationStatus.SUCCEEDED, "");
  }

  /** Keeps masters alive while refused connections are tried again and again. */
  static void beat(Puppet... puppets) throws Exception {
    for (Puppet puppet : puppets) puppet.allocate(1, null, null);
  }

  static StartContainersResponse start(ContainerManagementProtocol nm, Token token) throws Exception {
    return nm.startContainers(StartContainersRequest.newInstance(List.of(StartContainerRequest.newInstance(Puppet.launch(), token))));
  }

  static String statuses(GetContainerStatusesResponse r) {
    return r.getContainerStatuses().stream().map(s -> s.getContainerId() + " " + s.getState() + " " + s.getContainerSubState() + " exit=" + s.getExitStatus() + " diagnostics="
        + s.getDiagnostics() + " capability=" + s.getCapability() + " type=" + s.getExecutionType()).collect(Collectors.toList()) + " failed=" + failures(r.getFailedRequests());
  }

  static String stopped(StopContainersResponse r) {
    return "stopped=" + r.getSuccessfullyStoppedContainers() + " failed=" + failures(r.getFailedRequests());
  }

  static void unmanaged() throws Exception {
    Puppet puppet = new Puppet(c -> c.setUnmanagedAM(true));
    awaitState(puppet.id, EnumSet.of(YarnApplicationState.ACCEPTED));
    await("its token", () -> CLIENT.getApplicationReport(puppet.id).getAMRMToken() != null);
    UserGroupInformation caller = UserGroupInformation.createRemoteUser("unmanaged");
    org.apache.hadoop.security.token.Token<?> token = org.apache.hadoop.yarn.util.ConverterUtils.convertFromYarn(
        CLIENT.getApplicationReport(puppet.id).getAMRMToken(), Puppet.scheduler());
    caller.addToken(token);
    ApplicationMasterProtocol rm = Puppet.protocol(caller);
    call("unmanaged.accepted", () -> brief(CLIENT.getApplicationReport(puppet.id)));
    call("unmanaged.register", () -> registered(rm.registerApplicationMaster(RegisterApplicationMasterRequest.newInstance("host", 5, "url"))));
    call("unmanaged.running", () -> brief(awaitState(puppet.id, EnumSet.of(YarnApplicationState.RUNNING))));
    call("unmanaged.finish", () -> {
      await("unregistration", () -> rm.finishApplicationMaster(FinishApplicationMasterRequest.newInstance(FinalApplicationStatus.SUCCEEDED, "ok", "")).getIsUnregistered());
      return ended(puppet.id);
    });
  }

  static void keptContainers() throws Exception {
    Puppet puppet = new Puppet(c -> {
      c.setMaxAppAttempts(2);
      c.setKeepContainersAcrossApplicationAttempts(true);
    });
    puppet.register(1);
    Container kept = puppet.grants(1, 256, 1).get(0);
    puppet.start(1, kept, Puppet.launch());
    puppet.awaitRunning(kept.getId());
    await("its report", () -> CLIENT.getContainers(puppet.attempt(1)).size() == 2);
    Thread.sleep(2500);  // the node's next heartbeat tells that it runs; nothing that a client can see does
    Puppet.exit(puppet.master(1), 1);
    puppet.caller(2);
    call("kept.register", () -> {
      RegisterApplicationMasterResponse r = puppet.register(2);
      return r.getContainersFromPreviousAttempts().stream().map(c -> c.getId() + " " + c.getResource() + " " + c.getPriority()).collect(Collectors.toList())
          + " tokens=" + r.getNMTokensFromPreviousAttempts().size();
    });
    call("kept.still-runs", () -> CLIENT.getContainers(puppet.attempt(2)).stream().map(c -> c.getContainerId().toString()).sorted().collect(Collectors.toList()));
    Puppet.exit(kept.getId(), 4);
    call("kept.end", () -> {
      List<ContainerStatus> seen = new ArrayList<>();
      await("its end", () -> {
        seen.addAll(puppet.allocate(2, null, null).getCompletedContainersStatuses());
        return !seen.isEmpty();
      });
      return seen.get(0).getContainerId() + " " + seen.get(0).getExitStatus();
    });
    puppet.end(2, FinalApplicationStatus.SUCCEEDED, "");
    call("kept.final", () -> ended(puppet.id));
    Puppet forgiven = new Puppet(c -> {
      c.setMaxAppAttempts(2);
      c.setAttemptFailuresValidityInterval(100);
    });
    for (int attempt = 1; attempt <= 3; ++attempt) {
      forgiven.awaitRunning(forgiven.master(attempt));
      Puppet.exit(forgiven.master(attempt), 1);
    }
    forgiven.register(4);
    forgiven.end(4, FinalApplicationStatus.SUCCEEDED, "");
    call("window.attempts", () -> CLIENT.getApplicationAttempts(forgiven.id).size());
  }

  static void silent() throws Exception {
    Puppet never = new Puppet(c -> {});
    Puppet mute = new Puppet(c -> {});
    mute.register(1);
    call("silent.never-registers", () -> ended(never.id));
    call("silent.stops-allocating", () -> ended(mute.id));
  }

  /** A grant that is used after it has expired, as by a node whose clock is ahead. */
  static void late() throws Exception {
    Puppet puppet = new Puppet(c -> {});
    puppet.register(1);
    Container granted = puppet.grants(1, 256, 1).get(0);
    long expires = identifier(granted).getExpiryTimeStamp();
    await("the grant to expire", () -> System.currentTimeMillis() > expires);
    call("late.start", () -> refused(puppet, granted));
    List<ContainerStatus> ended = new ArrayList<>();
    await("the grant to be taken back", () -> ended.addAll(puppet.allocate(1, null, null).getCompletedContainersStatuses()) && !ended.isEmpty());
    call("late.told", () -> ended.stream().map(s -> s.getContainerId() + " " + s.getState() + " exit=" + s.getExitStatus() + " " + s.getDiagnostics())
        .collect(Collectors.toList()));
    call("late.start-after-it-was-taken-back", () -> refused(puppet, granted));
    Container another = puppet.grants(1, 256, 1).get(0);
    call("late.another-starts", () -> started(start(puppet.node(1, another.getNodeId()), another.getContainerToken())));
    puppet.end(1, FinalApplicationStatus.SUCCEEDED, "");
  }

  /** Why a node does not start a container, in full. */
  static List<String> refused(Puppet puppet, Container container) throws Exception {
    return start(puppet.node(1, container.getNodeId()), container.getContainerToken()).getFailedRequests().values().stream()
        .map(e -> e.deSerialize().toString().replaceAll("current time is \\d+ found \\d+", "current time is <now> found <then>"))
        .collect(Collectors.toList());
  }

  static ContainerTokenIdentifier identifier(Container container) throws Exception {
    ContainerTokenIdentifier identifier = new ContainerTokenIdentifier();
    identifier.readFields(new java.io.DataInputStream(new java.io.ByteArrayInputStream(container.getContainerToken().getIdentifier().array())));
    return identifier;
  }
}
