import java.util.*;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.apache.hadoop.yarn.api.ApplicationClientProtocol;
import org.apache.hadoop.yarn.api.protocolrecords.*;
import org.apache.hadoop.yarn.api.records.*;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.ipc.YarnRPC;
import org.apache.hadoop.yarn.server.api.ResourceManagerAdministrationProtocol;
import org.apache.hadoop.yarn.server.api.protocolrecords.*;

/** Who may do what while yarn.acl.enable is true. The users' parts are those of cases_access.py. */
public class AccessSurface extends Surface {
  static final String[] USERS = {"alice", "bob", "carol", "dave", "erin", "mallory", "boss", System.getProperty("user.name")};

  static ApplicationClientProtocol client(String user) throws Exception {
    return as(user, () -> (ApplicationClientProtocol) YarnRPC.create(CONF).getProxy(ApplicationClientProtocol.class,
        CONF.getSocketAddr(YarnConfiguration.RM_ADDRESS, "", 8032), CONF));
  }

  static ResourceManagerAdministrationProtocol admin(String user) throws Exception {
    return as(user, () -> (ResourceManagerAdministrationProtocol) YarnRPC.create(CONF).getProxy(ResourceManagerAdministrationProtocol.class,
        CONF.getSocketAddr(YarnConfiguration.RM_ADMIN_ADDRESS, "", 8033), CONF));
  }

  /** Submits an application without a process; alice's may be seen by dave and changed by erin. */
  static ApplicationId submit(String user, String queue) throws Exception {
    ApplicationClientProtocol rm = client(user);
    ApplicationSubmissionContext context = ApplicationSubmissionContext.newInstance(
        rm.getNewApplication(GetNewApplicationRequest.newInstance()).getApplicationId(), "access", queue, Priority.newInstance(0),
        Puppet.launch("true"), true, false, 1, Resource.newInstance(256, 1), "YARN");
    context.getAMContainerSpec().setApplicationACLs(Map.of(ApplicationAccessType.VIEW_APP, "dave", ApplicationAccessType.MODIFY_APP, "erin"));
    rm.submitApplication(SubmitApplicationRequest.newInstance(context));
    return context.getApplicationId();
  }

  static String outcome(ApplicationId id) throws Exception {
    await(id + " to be placed", () -> !EnumSet.of(YarnApplicationState.NEW, YarnApplicationState.NEW_SAVING, YarnApplicationState.SUBMITTED)
        .contains(CLIENT.getApplicationReport(id).getYarnApplicationState()));
    String seen = brief(CLIENT.getApplicationReport(id));
    CLIENT.killApplication(id);
    return seen.replace("AM container is launched, waiting for AM container to Register with RM", "");  // or not yet
  }

  static void submissions(String user) {
    for (String queue : new String[] {"root.alpha", "alpha", "root.beta", "root.closed", "root.closed.below", "root.alpha.below", "root.nowhere", "root", "default"}) {
      call("submit." + user + "." + queue, () -> outcome(submit(user, queue)));
    }
  }

  static String seen(ApplicationReport r) {
    return r.getUser() + " " + r.getQueue() + " " + r.getName() + " " + r.getYarnApplicationState() + " host=" + r.getHost() + " port=" + r.getRpcPort()
        + " diagnostics=" + r.getDiagnostics() + " page=" + r.getTrackingUrl() + " original=" + r.getOriginalTrackingUrl() + " usage="
        + (r.getApplicationResourceUsageReport() == null ? null : r.getApplicationResourceUsageReport().getNumUsedContainers()) + " attempt="
        + r.getCurrentApplicationAttemptId() + " token=" + (r.getAMRMToken() != null) + " clientToken=" + (r.getClientToAMToken() != null) + " progress="
        + r.getProgress() + " started=" + (r.getStartTime() > 0) + " priority=" + r.getPriority() + " timeouts=" + r.getApplicationTimeouts() + " logs="
        + r.getLogAggregationStatus();
  }

  /** What a user sees of alice's application. */
  static void views(String user, Puppet puppet) throws Exception {
    ApplicationClientProtocol rm = client(user);
    call("report." + user, () -> seen(rm.getApplicationReport(GetApplicationReportRequest.newInstance(puppet.id)).getApplicationReport()));
    for (ApplicationsRequestScope scope : ApplicationsRequestScope.values()) {
      call("list." + user + "." + scope, () -> {
        GetApplicationsRequest request = GetApplicationsRequest.newInstance(scope);
        request.setName("puppet");
        return rm.getApplications(request).getApplicationList().stream().map(r -> r.getUser() + " " + r.getHost()).collect(Collectors.toList());
      });
    }
    call("attempts." + user, () -> rm.getApplicationAttempts(GetApplicationAttemptsRequest.newInstance(puppet.id)).getApplicationAttemptList().size());
    call("attempt." + user, () -> rm.getApplicationAttemptReport(GetApplicationAttemptReportRequest.newInstance(puppet.attempt(1)))
        .getApplicationAttemptReport().getYarnApplicationAttemptState());
    call("containers." + user, () -> rm.getContainers(GetContainersRequest.newInstance(puppet.attempt(1))).getContainerList().size());
    call("container." + user, () -> rm.getContainerReport(GetContainerReportRequest.newInstance(puppet.master(1))).getContainerReport().getContainerState());
    for (String queue : new String[] {"root.alpha", "root.closed"}) {
      call("queue." + user + "." + queue, () -> rm.getQueueInfo(GetQueueInfoRequest.newInstance(queue, true, false, false)).getQueueInfo().getApplications()
          .stream().filter(r -> r.getName().equals("puppet")).map(r -> r.getUser() + " " + r.getHost()).collect(Collectors.toList()));
    }
    call("acls." + user, () -> rm.getQueueUserAcls(GetQueueUserAclsInfoRequest.newInstance()).getUserAclsInfoList().stream()
        .filter(a -> Set.of("root", "root.alpha", "root.beta", "root.closed").contains(a.getQueueName()))
        .map(a -> a.getQueueName() + "=" + a.getUserAcls()).sorted().collect(Collectors.toList()));
    call("unknown." + user, () -> rm.getApplicationReport(GetApplicationReportRequest.newInstance(ApplicationId.newInstance(1, 1))));
  }

  /** What a user may do to alice's application; each gets one without a process. */
  static void changes(String user) throws Exception {
    ApplicationClientProtocol rm = client(user);
    ApplicationId id = submit("alice", "root.alpha");
    awaitState(id, EnumSet.of(YarnApplicationState.ACCEPTED));
    call("priority." + user, () -> {
      rm.updateApplicationPriority(UpdateApplicationPriorityRequest.newInstance(id, Priority.newInstance(0)));
      return "done";
    });
    call("timeouts." + user, () -> rm.updateApplicationTimeouts(UpdateApplicationTimeoutsRequest.newInstance(id,
        Map.of(ApplicationTimeoutType.LIFETIME, "2100-01-01T00:00:00.000+0000"))).getApplicationTimeouts());
    for (String queue : new String[] {"root.beta", "root.closed", "root.nowhere", "root.alpha"}) {
      call("move." + user + "." + queue, () -> {
        rm.moveApplicationAcrossQueues(MoveApplicationAcrossQueuesRequest.newInstance(id, queue));
        return CLIENT.getApplicationReport(id).getQueue();
      });
    }
    call("fail." + user, () -> {
      rm.failApplicationAttempt(FailApplicationAttemptRequest.newInstance(ApplicationAttemptId.newInstance(id, 1)));
      return brief(awaitState(id, ENDED));
    });
    ApplicationId other = submit("alice", "root.alpha");
    awaitState(other, EnumSet.of(YarnApplicationState.ACCEPTED));
    call("kill." + user, () -> {
      KillApplicationRequest request = KillApplicationRequest.newInstance(other);
      request.setDiagnostics("a reason");
      rm.forceKillApplication(request);
      return brief(awaitState(other, ENDED)).replaceAll(" at [0-9.]+", " at <address>")
          .replaceAll("progress=[01][.]0 ", "");  // 1.0 once it was launched
    });
    call("kill-again." + user, () -> {
      CLIENT.killApplication(other);
      return rm.forceKillApplication(KillApplicationRequest.newInstance(other)).getIsKillCompleted();
    });
    call("kill-unknown." + user, () -> rm.forceKillApplication(KillApplicationRequest.newInstance(ApplicationId.newInstance(1, 1))));
    CLIENT.killApplication(id);
  }

  static void signal(String user, Puppet puppet) throws Exception {
    ApplicationClientProtocol rm = client(user);
    call("signal." + user, () -> {
      rm.signalToContainer(SignalContainerRequest.newInstance(puppet.master(1), SignalContainerCommand.OUTPUT_THREAD_DUMP));
      return "done";
    });
  }

  static void admin(String user, String name, Callable<?> calling) {
    call("admin." + user + "." + name, () -> {
      calling.call();
      return "done";
    });
  }

  static void administration(String user) throws Exception {
    ResourceManagerAdministrationProtocol rm = admin(user);
    admin(user, "refreshQueues", () -> rm.refreshQueues(RefreshQueuesRequest.newInstance()));
    admin(user, "refreshNodes", () -> rm.refreshNodes(RefreshNodesRequest.newInstance()));
    admin(user, "refreshSuperUserGroups", () -> rm.refreshSuperUserGroupsConfiguration(RefreshSuperUserGroupsConfigurationRequest.newInstance()));
    admin(user, "refreshUserToGroups", () -> rm.refreshUserToGroupsMappings(RefreshUserToGroupsMappingsRequest.newInstance()));
    admin(user, "refreshAdminAcls", () -> rm.refreshAdminAcls(RefreshAdminAclsRequest.newInstance()));
    admin(user, "refreshServiceAcls", () -> rm.refreshServiceAcls(RefreshServiceAclsRequest.newInstance()));
    admin(user, "refreshNodesResources", () -> rm.refreshNodesResources(RefreshNodesResourcesRequest.newInstance()));
    admin(user, "refreshClusterMaxPriority", () -> rm.refreshClusterMaxPriority(RefreshClusterMaxPriorityRequest.newInstance()));
    admin(user, "updateNodeResource", () -> rm.updateNodeResource(UpdateNodeResourceRequest.newInstance(Map.of())));
    admin(user, "addLabels", () -> rm.addToClusterNodeLabels(AddToClusterNodeLabelsRequest.newInstance(List.of())));
    admin(user, "replaceLabels", () -> rm.replaceLabelsOnNode(ReplaceLabelsOnNodeRequest.newInstance(Map.of())));
    admin(user, "checkForDecommissioningNodes", () -> rm.checkForDecommissioningNodes(
        org.apache.hadoop.yarn.util.Records.newRecord(CheckForDecommissioningNodesRequest.class)));
    call("admin." + user + ".groups", () -> List.of(rm.getGroupsForUser("nobody-there")));
  }

  public static void main(String[] arguments) throws Exception {
    Puppet puppet = as("alice", () -> {
      org.apache.hadoop.yarn.client.api.YarnClient own = client();
      org.apache.hadoop.yarn.client.api.YarnClientApplication application = own.createApplication();
      ApplicationSubmissionContext context = Puppet.context(application.getApplicationSubmissionContext());
      context.getAMContainerSpec().setApplicationACLs(Map.of(ApplicationAccessType.VIEW_APP, "dave", ApplicationAccessType.MODIFY_APP, "erin"));
      return new Puppet(own.submitApplication(context));
    });
    call("registered", () -> new TreeMap<>(puppet.register(1).getApplicationACLs()));
    for (String user : USERS) submissions(user);
    for (String user : USERS) views(user, puppet);
    for (String user : USERS) changes(user);
    for (String user : USERS) signal(user, puppet);
    for (String user : USERS) administration(user);
    CLIENT.killApplication(puppet.id);
    System.exit(0);
  }
}
