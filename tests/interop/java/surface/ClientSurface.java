import java.util.*;
import java.util.stream.Collectors;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.yarn.api.protocolrecords.*;
import org.apache.hadoop.yarn.api.records.*;
import org.apache.hadoop.yarn.client.ClientRMProxy;
import org.apache.hadoop.yarn.api.ApplicationClientProtocol;
import org.apache.hadoop.yarn.client.api.YarnClientApplication;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/** Every operation of YarnClient, on good and on bad arguments. */
public class ClientSurface extends Surface {
  static final ApplicationId NOBODY = ApplicationId.newInstance(1, 1);

  public static void main(String[] arguments) throws Exception {
    cluster();
    refusedSubmissions();
    filters();
    kills();
    attempts();
    moves();
    prioritiesAndTimeouts();
    reports();
    signals();
    updates();
    System.exit(0);
  }

  static String node(NodeReport n) {
    return n.getNodeId().getHost() + " " + n.getNodeState() + " " + n.getRackName() + " used=" + n.getUsed() + " capability=" + n.getCapability()
        + " containers=" + n.getNumContainers() + " labels=" + n.getNodeLabels() + " health=" + n.getHealthReport() + " update="
        + n.getNodeUpdateType() + " timeout=" + n.getDecommissioningTimeout() + " attributes=" + n.getNodeAttributes();
  }

  static String queue(QueueInfo q) {
    if (q == null) return "null";
    QueueStatistics s = q.getQueueStatistics();
    return q.getQueueName() + " capacity=" + q.getCapacity() + " maximum=" + q.getMaximumCapacity() + " current=" + q.getCurrentCapacity() + " "
        + q.getQueueState() + " apps=" + q.getApplications().size() + " children="
        + q.getChildQueues().stream().map(QueueInfo::getQueueName).collect(Collectors.toList()) + " labels=" + q.getAccessibleNodeLabels()
        + " default=" + q.getDefaultNodeLabelExpression() + " preemptionDisabled=" + q.getPreemptionDisabled() + " configurations="
        + q.getQueueConfigurations() + " statistics=" + (s == null ? null : s.getAvailableMemoryMB() + "," + s.getAllocatedMemoryMB() + ","
        + s.getPendingMemoryMB() + "," + s.getReservedMemoryMB() + "," + s.getAvailableVCores() + "," + s.getAllocatedVCores() + ","
        + s.getPendingVCores() + "," + s.getAllocatedContainers() + "," + s.getPendingContainers());
  }

  static void cluster() throws Exception {
    call("metrics", () -> {
      YarnClusterMetrics m = CLIENT.getYarnClusterMetrics();
      return m.getNumNodeManagers() + " active=" + m.getNumActiveNodeManagers() + " lost=" + m.getNumLostNodeManagers() + " decommissioned="
          + m.getNumDecommissionedNodeManagers() + " unhealthy=" + m.getNumUnhealthyNodeManagers() + " rebooted="
          + m.getNumRebootedNodeManagers();
    });
    for (NodeState state : NodeState.values())
      call("nodes." + state, () -> CLIENT.getNodeReports(state).stream().map(ClientSurface::node).sorted().collect(Collectors.toList()));
    for (String name : new String[] {"root", "alpha", "root.alpha", "root.beta", "default", "root.default", "nowhere", "root.nowhere", ""})
      call("queue." + name, () -> queue(CLIENT.getQueueInfo(name)));
    call("queues.all", () -> CLIENT.getAllQueues().stream().map(QueueInfo::getQueueName).sorted().collect(Collectors.toList()));
    call("queues.root", () -> CLIENT.getRootQueueInfos().stream().map(QueueInfo::getQueueName).sorted().collect(Collectors.toList()));
    call("queues.children", () -> CLIENT.getChildQueueInfos("root").stream().map(QueueInfo::getQueueName).sorted().collect(Collectors.toList()));
    call("queues.acls", () -> CLIENT.getQueueAclsInfo().stream().map(a -> a.getQueueName() + a.getUserAcls()).sorted().collect(Collectors.toList()));
    call("resource-types", () -> CLIENT.getResourceTypeInfo());
    call("profiles", () -> CLIENT.getResourceProfiles());
    call("profile", () -> CLIENT.getResourceProfile("default"));
    call("labels", () -> CLIENT.getClusterNodeLabels());
    call("labels.by-node", () -> CLIENT.getNodeToLabels());
    call("labels.to-nodes", () -> CLIENT.getLabelsToNodes());
    call("labels.to-nodes.x", () -> CLIENT.getLabelsToNodes(Set.of("x")));
    call("attributes", () -> CLIENT.getClusterAttributes());
    call("attributes.to-nodes", () -> CLIENT.getAttributesToNodes(null));
    call("attributes.of-nodes", () -> CLIENT.getNodeToAttributes(null));
    call("delegation-token", () -> CLIENT.getRMDelegationToken(new Text("me")));
    call("reservation.new", () -> CLIENT.createReservation());
    call("reservation.list", () -> CLIENT.listReservations(ReservationListRequest.newInstance("root.alpha", "", -1, -1, false)));
    call("new-application", () -> {
      GetNewApplicationResponse answer = CLIENT.createApplication().getNewApplicationResponse();
      return answer.getApplicationId().getId() + " " + answer.getMaximumResourceCapability();
    });
  }

  interface Change {
    void to(ApplicationSubmissionContext context) throws Exception;
  }

  /** Submits, says what came of it, and ends the application. */
  static void submission(String name, Change change) throws Exception {
    YarnClientApplication application = CLIENT.createApplication();
    ApplicationSubmissionContext context = Puppet.context(application.getApplicationSubmissionContext());
    change.to(context);
    ApplicationClientProtocol rm = ClientRMProxy.createRMProxy(CONF, ApplicationClientProtocol.class);
    call("submit." + name, () -> {
      rm.submitApplication(SubmitApplicationRequest.newInstance(context));
      ApplicationId id = context.getApplicationId();
      await("a verdict", () -> CLIENT.getApplicationReport(id).getYarnApplicationState().ordinal() >= YarnApplicationState.ACCEPTED.ordinal());
      String seen = brief(CLIENT.getApplicationReport(id)) + " type=" + CLIENT.getApplicationReport(id).getApplicationType() + " name="
          + CLIENT.getApplicationReport(id).getName() + " tags=" + new TreeSet<>(CLIENT.getApplicationReport(id).getApplicationTags());
      CLIENT.killApplication(id);
      return seen.replace("AM container is launched, waiting for AM container to Register with RM", "");
    });
  }

  static void refusedSubmissions() throws Exception {
    submission("plain", c -> {});
    submission("no-queue", c -> c.setQueue(null));
    submission("default", c -> c.setQueue("default"));
    submission("short-queue-name", c -> c.setQueue("alpha"));
    submission("unknown-queue", c -> c.setQueue("root.nowhere"));
    submission("unknown-short-queue", c -> c.setQueue("nowhere"));
    submission("root-queue", c -> c.setQueue("root"));
    submission("empty-queue", c -> c.setQueue(""));
    submission("no-name", c -> c.setApplicationName(null));
    submission("long-type", c -> c.setApplicationType("a-type-of-more-than-twenty-characters"));
    submission("too-much-memory", c -> c.setResource(Resource.newInstance(1 << 20, 1)));
    submission("too-many-cores", c -> c.setResource(Resource.newInstance(256, 1000)));
    submission("negative-memory", c -> c.setResource(Resource.newInstance(-1, 1)));
    submission("no-memory", c -> c.setResource(Resource.newInstance(0, 0)));
    submission("no-resource", c -> c.setResource(null));
    submission("no-launch", c -> c.setAMContainerSpec(null));
    submission("label", c -> c.setNodeLabelExpression("gpu"));
    submission("priority-999", c -> c.setPriority(Priority.newInstance(999)));
    submission("priority-negative", c -> c.setPriority(Priority.newInstance(-5)));
    submission("attempts-9", c -> c.setMaxAppAttempts(9));
    submission("attempts-0", c -> c.setMaxAppAttempts(0));
    submission("lifetime-zero", c -> c.setApplicationTimeouts(Map.of(ApplicationTimeoutType.LIFETIME, 0L)));
    submission("lifetime-negative", c -> c.setApplicationTimeouts(Map.of(ApplicationTimeoutType.LIFETIME, -7L)));
    submission("lifetime", c -> c.setApplicationTimeouts(Map.of(ApplicationTimeoutType.LIFETIME, 1000L)));
    submission("tags-11", c -> c.setApplicationTags(new TreeSet<>(List.of("1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "b"))));
    submission("tag-long", c -> c.setApplicationTags(Set.of("x".repeat(101))));
    submission("tag-umlaut", c -> c.setApplicationTags(Set.of("größe")));
    submission("tags", c -> c.setApplicationTags(Set.of("One", "two")));
    submission("asks-two-any", c -> c.setAMContainerResourceRequests(List.of(Puppet.ask(0, 256, 1), Puppet.ask(0, 512, 1))));
    submission("asks-without-any", c -> c.setAMContainerResourceRequests(
        List.of(ResourceRequest.newInstance(Priority.newInstance(0), "/default-rack", Resource.newInstance(256, 1), 1))));
    submission("asks-count-5", c -> c.setAMContainerResourceRequests(List.of(Puppet.ask(0, 256, 5))));
    submission("asks-unknown-host", c -> {
      ResourceRequest host = ResourceRequest.newInstance(Priority.newInstance(0), "nohost", Resource.newInstance(256, 1), 1);
      ResourceRequest any = Puppet.ask(0, 256, 1);
      any.setRelaxLocality(false);
      c.setAMContainerResourceRequests(List.of(host, any));
    });
    submission("unissued-id", c -> c.setApplicationId(ApplicationId.newInstance(c.getApplicationId().getClusterTimestamp(), 7000)));
    submission("foreign-id", c -> c.setApplicationId(ApplicationId.newInstance(12345, 77)));
    submission("reservation", c -> c.setReservationID(ReservationId.newInstance(1, 1)));
    submission("keep-containers", c -> c.setKeepContainersAcrossApplicationAttempts(true));
    ApplicationClientProtocol rm = ClientRMProxy.createRMProxy(CONF, ApplicationClientProtocol.class);
    call("submit.nothing", () -> rm.submitApplication(SubmitApplicationRequest.newInstance(null)).getClass().getSimpleName());
    ApplicationSubmissionContext again = Puppet.context(CLIENT.createApplication().getApplicationSubmissionContext());
    call("submit.once", () -> rm.submitApplication(SubmitApplicationRequest.newInstance(again)).getClass().getSimpleName());
    call("submit.twice", () -> rm.submitApplication(SubmitApplicationRequest.newInstance(again)).getClass().getSimpleName());
    CLIENT.killApplication(again.getApplicationId());
    awaitState(again.getApplicationId(), ENDED);
    call("submit.after-end", () -> rm.submitApplication(SubmitApplicationRequest.newInstance(again)).getClass().getSimpleName());
    call("submit.after-end.state", () -> CLIENT.getApplicationReport(again.getApplicationId()).getYarnApplicationState());
  }

  static Puppet finished, failed, killed, running;

  static List<String> names(GetApplicationsRequest request) throws Exception {
    ApplicationClientProtocol rm = ClientRMProxy.createRMProxy(CONF, ApplicationClientProtocol.class);
    return rm.getApplications(request).getApplicationList().stream().map(ApplicationReport::getName)
        .filter(n -> n.startsWith("filter-")).sorted().collect(Collectors.toList());
  }

  static void list(String name, Change2 change) {
    call("list." + name, () -> {
      GetApplicationsRequest request = GetApplicationsRequest.newInstance();
      change.to(request);
      return names(request);
    });
  }

  interface Change2 {
    void to(GetApplicationsRequest request) throws Exception;
  }

  static void filters() throws Exception {
    long before = System.currentTimeMillis();
    finished = new Puppet(c -> {
      c.setApplicationName("filter-finished");
      c.setApplicationType("SPARK");
      c.setApplicationTags(Set.of("one", "Shared"));
    });
    finished.register(1);
    finished.end(1, FinalApplicationStatus.SUCCEEDED, "all good");
    failed = new Puppet(c -> {
      c.setApplicationName("filter-failed");
      c.setQueue("root.beta");
      c.setApplicationType("MAPREDUCE");
    });
    failed.awaitRunning(failed.master(1));
    Puppet.exit(failed.master(1), 3);
    awaitState(failed.id, ENDED);
    long between = System.currentTimeMillis();
    Thread.sleep(5);
    killed = new Puppet(c -> {
      c.setApplicationName("filter-killed");
      c.setApplicationTags(Set.of("shared"));
    });
    killed.awaitRunning(killed.master(1));
    CLIENT.killApplication(killed.id, "enough of it");
    awaitState(killed.id, ENDED);
    running = new Puppet(c -> {
      c.setApplicationName("filter-running");
      c.setQueue("root.beta");
    });
    running.register(1);
    awaitState(running.id, EnumSet.of(YarnApplicationState.RUNNING));
    String me = org.apache.hadoop.security.UserGroupInformation.getCurrentUser().getShortUserName();
    list("all", r -> {});
    list("type", r -> r.setApplicationTypes(Set.of("SPARK")));
    list("type.lower", r -> r.setApplicationTypes(Set.of("spark")));
    list("types", r -> r.setApplicationTypes(Set.of("SPARK", "MAPREDUCE")));
    list("type.unknown", r -> r.setApplicationTypes(Set.of("NOSUCH")));
    for (YarnApplicationState state : YarnApplicationState.values()) list("state." + state, r -> r.setApplicationStates(EnumSet.of(state)));
    list("states", r -> r.setApplicationStates(EnumSet.of(YarnApplicationState.FAILED, YarnApplicationState.KILLED)));
    list("tag", r -> r.setApplicationTags(Set.of("shared")));
    list("tag.case", r -> r.setApplicationTags(Set.of("SHARED")));
    list("tag.one", r -> r.setApplicationTags(Set.of("one")));
    list("tag.unknown", r -> r.setApplicationTags(Set.of("two")));
    list("queue.full", r -> r.setQueues(Set.of("root.beta")));
    list("queue.short", r -> r.setQueues(Set.of("beta")));
    list("queue.parent", r -> r.setQueues(Set.of("root")));
    list("queue.unknown", r -> r.setQueues(Set.of("nowhere")));
    list("user", r -> r.setUsers(Set.of(me)));
    list("user.other", r -> r.setUsers(Set.of("nobody-here")));
    list("limit.0", r -> r.setLimit(0));
    list("started.before", r -> r.setStartRange(before, between));
    list("started.after", r -> r.setStartRange(between + 1, Long.MAX_VALUE));
    list("finished.after", r -> r.setFinishRange(between + 1, Long.MAX_VALUE));
    list("finished.before", r -> r.setFinishRange(before, between));
    list("finished.never", r -> r.setFinishRange(0, 0));
    list("name", r -> r.setName("filter-killed"));
    list("name.unknown", r -> r.setName("filter"));
    for (ApplicationsRequestScope scope : ApplicationsRequestScope.values()) list("scope." + scope, r -> r.setScope(scope));
    list("both", r -> {
      r.setQueues(Set.of("beta"));
      r.setApplicationStates(EnumSet.of(YarnApplicationState.RUNNING));
    });
    call("list.client.types-states", () -> CLIENT.getApplications(Set.of("SPARK"), EnumSet.of(YarnApplicationState.FINISHED)).size());
    call("list.limit.2", () -> {
      GetApplicationsRequest request = GetApplicationsRequest.newInstance();
      request.setLimit(2);
      ApplicationClientProtocol rm = ClientRMProxy.createRMProxy(CONF, ApplicationClientProtocol.class);
      return rm.getApplications(request).getApplicationList().size();
    });
    call("limit.negative", () -> {
      GetApplicationsRequest request = GetApplicationsRequest.newInstance();
      request.setLimit(-3);
      return names(request).size();
    });
  }

  static void kills() throws Exception {
    call("kill.unknown", () -> {
      CLIENT.killApplication(NOBODY);
      return "done";
    });
    call("kill.diagnostics", () -> CLIENT.getApplicationReport(killed.id).getDiagnostics());
    call("kill.ended", () -> {
      CLIENT.killApplication(finished.id);
      return brief(CLIENT.getApplicationReport(finished.id));
    });
    call("kill.killed-again", () -> {
      CLIENT.killApplication(killed.id, "once more");
      return brief(CLIENT.getApplicationReport(killed.id));
    });
    Puppet other = new Puppet(c -> {});
    other.awaitRunning(other.master(1));
    call("kill.by-another-user", () -> as("mallory", () -> {
      client().killApplication(other.id);
      return brief(awaitState(other.id, ENDED));
    }));
  }

  static void attempts() throws Exception {
    Puppet puppet = new Puppet(c -> c.setMaxAppAttempts(2));
    puppet.register(1);
    awaitState(puppet.id, EnumSet.of(YarnApplicationState.RUNNING));
    call("fail-attempt.unknown", () -> {
      CLIENT.failApplicationAttempt(puppet.attempt(7));
      return "done";
    });
    call("fail-attempt.unknown-application", () -> {
      CLIENT.failApplicationAttempt(ApplicationAttemptId.newInstance(NOBODY, 1));
      return "done";
    });
    call("fail-attempt.first", () -> {
      CLIENT.failApplicationAttempt(puppet.attempt(1));
      puppet.awaitRunning(puppet.master(2));
      return attempt(CLIENT.getApplicationAttemptReport(puppet.attempt(1)));
    });
    call("fail-attempt.ended", () -> {
      CLIENT.failApplicationAttempt(puppet.attempt(1));
      return "done";
    });
    call("fail-attempt.application-between", () -> brief(CLIENT.getApplicationReport(puppet.id)));
    call("fail-attempt.last", () -> {
      CLIENT.failApplicationAttempt(puppet.attempt(2));
      return brief(awaitState(puppet.id, ENDED));
    });
    call("fail-attempt.attempts", () -> CLIENT.getApplicationAttempts(puppet.id).stream().map(ClientSurface::attempt).sorted().collect(Collectors.toList()));
    call("fail-attempt.application-ended", () -> {
      CLIENT.failApplicationAttempt(puppet.attempt(2));
      return "done";
    });
  }

  static String attempt(ApplicationAttemptReport r) {
    return r.getApplicationAttemptId() + " " + r.getYarnApplicationAttemptState() + " host=" + r.getHost() + " port=" + r.getRpcPort()
        + " master=" + r.getAMContainerId() + " url=" + r.getTrackingUrl() + " original=" + r.getOriginalTrackingUrl() + " started="
        + (r.getStartTime() > 0) + " finished=" + (r.getFinishTime() > 0) + " diagnostics=" + r.getDiagnostics();
  }

  static void moves() throws Exception {
    Puppet puppet = new Puppet(c -> c.setQueue("root.beta"));
    puppet.register(1);
    awaitState(puppet.id, EnumSet.of(YarnApplicationState.RUNNING));
    for (String target : new String[] {"root.alpha", "beta", "root.beta", "root.nowhere", "root", ""}) {
      call("move." + target, () -> {
        CLIENT.moveApplicationAcrossQueues(puppet.id, target);
        return CLIENT.getApplicationReport(puppet.id).getQueue();
      });
    }
    call("move.unknown-application", () -> {
      CLIENT.moveApplicationAcrossQueues(NOBODY, "root.alpha");
      return "done";
    });
    call("move.ended", () -> {
      CLIENT.moveApplicationAcrossQueues(finished.id, "root.beta");
      return "done";
    });
    puppet.end(1, FinalApplicationStatus.KILLED, "stopped");
    call("move.final", () -> brief(CLIENT.getApplicationReport(puppet.id)));
  }

  static void prioritiesAndTimeouts() throws Exception {
    call("priority", () -> CLIENT.updateApplicationPriority(running.id, Priority.newInstance(7)));
    call("priority.unknown", () -> CLIENT.updateApplicationPriority(NOBODY, Priority.newInstance(7)));
    call("priority.ended", () -> CLIENT.updateApplicationPriority(finished.id, Priority.newInstance(7)));
    ApplicationClientProtocol rm = ClientRMProxy.createRMProxy(CONF, ApplicationClientProtocol.class);
    String[][] times = {{"far", "2099-01-01T00:00:00.000+0000"}, {"zone", "2098-06-01T12:30:00.500+0200"}, {"past", "2001-01-01T00:00:00.000+0000"},
        {"nonsense", "tomorrow"}, {"short", "2099-01-01"}, {"empty", ""}};
    for (String[] time : times) {
      call("timeout." + time[0], () -> rm.updateApplicationTimeouts(
          UpdateApplicationTimeoutsRequest.newInstance(running.id, Map.of(ApplicationTimeoutType.LIFETIME, time[1]))).getApplicationTimeouts()
          .toString().replaceAll("current-time=\\S+", "current-time=<now>"));
    }
    call("timeout.none", () -> rm.updateApplicationTimeouts(UpdateApplicationTimeoutsRequest.newInstance(running.id, Map.of())).getApplicationTimeouts());
    call("timeout.unknown", () -> rm.updateApplicationTimeouts(
        UpdateApplicationTimeoutsRequest.newInstance(NOBODY, Map.of(ApplicationTimeoutType.LIFETIME, times[0][1]))).getApplicationTimeouts());
    call("timeout.ended", () -> rm.updateApplicationTimeouts(
        UpdateApplicationTimeoutsRequest.newInstance(finished.id, Map.of(ApplicationTimeoutType.LIFETIME, times[0][1]))).getApplicationTimeouts());
    call("timeout.report", () -> {
      ApplicationTimeout t = CLIENT.getApplicationReport(running.id).getApplicationTimeouts().get(ApplicationTimeoutType.LIFETIME);
      return t.getTimeoutType() + " " + t.getExpiryTime() + " rest=" + (t.getRemainingTime() > 1000);
    });
    Puppet brief = new Puppet(c -> c.setApplicationTimeouts(Map.of(ApplicationTimeoutType.LIFETIME, 15L)));
    brief.awaitRunning(brief.master(1));
    call("timeout.expires", () -> brief(awaitState(brief.id, ENDED)));
  }

  static void report(String name, Puppet puppet) {
    call("report." + name, () -> {
      ApplicationReport r = CLIENT.getApplicationReport(puppet.id);
      ApplicationResourceUsageReport u = r.getApplicationResourceUsageReport();
      ApplicationTimeout t = r.getApplicationTimeouts().get(ApplicationTimeoutType.LIFETIME);
      return brief(r) + " host=" + r.getHost() + " port=" + r.getRpcPort() + " url=" + r.getTrackingUrl() + " original=" + r.getOriginalTrackingUrl()
          + " attempt=" + r.getCurrentApplicationAttemptId() + " type=" + r.getApplicationType() + " tags=" + new TreeSet<>(r.getApplicationTags())
          + " user=" + r.getUser() + " started=" + (r.getStartTime() > 0) + " launched=" + (r.getLaunchTime() > 0) + " submitted="
          + (r.getSubmitTime() > 0) + " finished=" + (r.getFinishTime() > 0) + " logs=" + r.getLogAggregationStatus() + " unmanaged="
          + r.isUnmanagedApp() + " label=" + r.getAppNodeLabelExpression() + "/" + r.getAmNodeLabelExpression() + " token=" + r.getAMRMToken() + "/"
          + r.getClientToAMToken() + " containers=" + u.getNumUsedContainers() + "/" + u.getNumReservedContainers() + " used=" + u.getUsedResources()
          + " reserved=" + u.getReservedResources() + " needed=" + u.getNeededResources() + " preempted=" + u.getPreemptedMemorySeconds()
          + " timeout=" + t.getExpiryTime() + (t.getRemainingTime() > 0 ? " later" : " " + t.getRemainingTime());
    });
  }

  static String container(ContainerReport r) {
    return r.getContainerId() + " " + r.getContainerState() + " exit=" + r.getContainerExitStatus() + " resource=" + r.getAllocatedResource()
        + " node=" + (r.getAssignedNode() == null ? null : "some") + " priority=" + r.getPriority() + " created=" + (r.getCreationTime() > 0)
        + " finished=" + (r.getFinishTime() > 0) + " diagnostics=" + r.getDiagnosticsInfo() + " log=" + r.getLogUrl() + " http="
        + r.getNodeHttpAddress() + " type=" + r.getExecutionType() + " ports=" + r.getExposedPorts();
  }

  static String anyNode(String text) {
    return text.replaceAll("(localhost|127\\.0\\.0\\.[12]):\\d+", "<node>");
  }

  static ContainerReport acquired;

  static void reports() throws Exception {
    report("finished", finished);
    report("failed", failed);
    report("killed", killed);
    call("report.unknown", () -> CLIENT.getApplicationReport(NOBODY));
    List<Container> granted = running.grants(1, 300, 3);
    for (int i = 0; i < 3; ++i) {
      if (i == 2) acquired = CLIENT.getContainerReport(granted.get(2).getId());
      running.start(1, granted.get(i), Puppet.launch());
      running.awaitRunning(granted.get(i).getId());
    }
    await("three reports", () -> CLIENT.getContainers(running.attempt(1)).size() == 4);
    report("running", running);
    call("containers", () -> anyNode(CLIENT.getContainers(running.attempt(1)).stream().map(ClientSurface::container).sorted().collect(Collectors.toList()).toString()));
    call("container.master", () -> anyNode(container(CLIENT.getContainerReport(running.master(1)))));
    call("container.acquired", () -> anyNode(container(acquired)));
    call("container.unknown", () -> CLIENT.getContainerReport(ContainerId.newContainerId(running.attempt(1), 77)));
    call("container.unknown-attempt", () -> CLIENT.getContainerReport(ContainerId.newContainerId(running.attempt(9), 1)));
    call("container.unknown-application", () -> CLIENT.getContainerReport(ContainerId.newContainerId(ApplicationAttemptId.newInstance(NOBODY, 1), 1)));
    call("containers.unknown-attempt", () -> CLIENT.getContainers(running.attempt(9)));
    call("containers.unknown-application", () -> CLIENT.getContainers(ApplicationAttemptId.newInstance(NOBODY, 1)));
    call("attempts.running", () -> anyNode(CLIENT.getApplicationAttempts(running.id).stream().map(ClientSurface::attempt).collect(Collectors.toList()).toString()));
    call("attempts.finished", () -> CLIENT.getApplicationAttempts(finished.id).stream().map(ClientSurface::attempt).collect(Collectors.toList()));
    call("attempts.failed", () -> CLIENT.getApplicationAttempts(failed.id).stream().map(ClientSurface::attempt).collect(Collectors.toList()));
    call("attempts.killed", () -> CLIENT.getApplicationAttempts(killed.id).stream().map(ClientSurface::attempt).collect(Collectors.toList()));
    call("attempts.unknown", () -> CLIENT.getApplicationAttempts(NOBODY));
    call("attempt.unknown", () -> CLIENT.getApplicationAttemptReport(running.attempt(9)));
    call("attempt.unknown-application", () -> CLIENT.getApplicationAttemptReport(ApplicationAttemptId.newInstance(NOBODY, 1)));
    call("containers.finished", () -> CLIENT.getContainers(finished.attempt(1)).size());
    call("queue.busy", () -> queue(CLIENT.getQueueInfo("root.beta")).replaceAll("apps=\\d+", "apps=n"));
    call("nodes.busy", () -> CLIENT.getNodeReports(NodeState.RUNNING).stream().mapToInt(NodeReport::getNumContainers).sum());
  }

  static void signals() throws Exception {
    ContainerId container = ContainerId.newContainerId(running.attempt(1), 2);
    for (SignalContainerCommand command : new SignalContainerCommand[] {SignalContainerCommand.OUTPUT_THREAD_DUMP, SignalContainerCommand.FORCEFUL_SHUTDOWN}) {
      call("signal." + command, () -> {
        CLIENT.signalToContainer(container, command);
        return "done";
      });
    }
    List<ContainerStatus> ended = new ArrayList<>();
    await("the signalled container's end", () -> {
      ended.addAll(running.allocate(1, null, null).getCompletedContainersStatuses());
      return !ended.isEmpty();
    });
    call("signal.end", () -> ended.get(0).getContainerId() + " " + ended.get(0).getExitStatus() + " " + ended.get(0).getState());
    call("signal.ended", () -> {
      CLIENT.signalToContainer(container, SignalContainerCommand.GRACEFUL_SHUTDOWN);
      return "done";
    });
    call("signal.unknown", () -> {
      CLIENT.signalToContainer(ContainerId.newContainerId(ApplicationAttemptId.newInstance(NOBODY, 1), 1), SignalContainerCommand.GRACEFUL_SHUTDOWN);
      return "done";
    });
    call("container.ended", () -> anyNode(container(CLIENT.getContainerReport(container))));
  }

  static void updates() throws Exception {
    ContainerId container = ContainerId.newContainerId(running.attempt(1), 3);
    update("unknown", ContainerId.newContainerId(running.attempt(1), 99), 0, ContainerUpdateType.INCREASE_RESOURCE, 512, null);
    update("wrong-version", container, 5, ContainerUpdateType.INCREASE_RESOURCE, 512, null);
    update("too-big", container, 0, ContainerUpdateType.INCREASE_RESOURCE, 1 << 20, null);
    update("increase", container, 0, ContainerUpdateType.INCREASE_RESOURCE, 1024, null);
    update("decrease", container, 1, ContainerUpdateType.DECREASE_RESOURCE, 512, null);
    // Hadoop's own answer to these is silence, and an outstanding update for ever.
    ContainerId last = ContainerId.newContainerId(running.attempt(1), 4);
    update("smaller", last, 0, ContainerUpdateType.INCREASE_RESOURCE, 1, null);
    update("bigger-decrease", last, 0, ContainerUpdateType.DECREASE_RESOURCE, 4096, null);
    update("promote-guaranteed", last, 0, ContainerUpdateType.PROMOTE_EXECUTION_TYPE, 0, ExecutionType.GUARANTEED);
    running.end(1, FinalApplicationStatus.FAILED, "gave up");
    call("update.final", () -> brief(CLIENT.getApplicationReport(running.id)));
  }

  static void update(String name, ContainerId container, int version, ContainerUpdateType type, int memory, ExecutionType execution) {
    call("update." + name, () -> {
      UpdateContainerRequest change = UpdateContainerRequest.newInstance(version, container, type,
          memory > 0 ? Resource.newInstance(memory, 1) : null, execution);
      List<String> seen = new ArrayList<>();
      AllocateRequest request = AllocateRequest.newBuilder().responseId(running.response).progress(0.5f).updateRequests(List.of(change)).build();
      AllocateResponse first = running.allocate(1, request);
      collect(first, seen);
      long deadline = System.nanoTime() + 5_000_000_000L;
      while (seen.isEmpty() && System.nanoTime() < deadline) {
        Thread.sleep(100);
        collect(running.allocate(1, null, null), seen);
      }
      return seen;
    });
  }

  static void collect(AllocateResponse answer, List<String> seen) throws Exception {
    for (UpdateContainerError e : answer.getUpdateErrors())
      seen.add("error " + e.getReason() + " version=" + e.getCurrentContainerVersion() + " of " + e.getUpdateContainerRequest().getContainerId());
    for (UpdatedContainer u : answer.getUpdatedContainers()) {
      seen.add(u.getUpdateType() + " " + u.getContainer().getId() + " " + u.getContainer().getResource() + " version=" + u.getContainer().getVersion());
      ContainerUpdateRequest request = ContainerUpdateRequest.newInstance(List.of(u.getContainer().getContainerToken()));
      ContainerUpdateResponse done = running.node(1, u.getContainer().getNodeId()).updateContainer(request);
      seen.add("succeeded " + done.getSuccessfullyUpdatedContainers() + " failed " + done.getFailedRequests().keySet());
    }
  }
}
