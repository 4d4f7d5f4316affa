import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.ApplicationMasterProtocol;
import org.apache.hadoop.yarn.api.protocolrecords.*;
import org.apache.hadoop.yarn.api.records.*;
import org.apache.hadoop.yarn.util.ConverterUtils;

/** A master beyond the limits of one application: the call is refused whole, and the next one goes on where it stood. */
public class MasterLimits extends Surface {
  static List<ResourceRequest> asks(int keys, int sizes) {
    List<ResourceRequest> asks = new ArrayList<>();
    for (int i = 0; i < keys; ++i) {
      asks.add(ResourceRequest.newInstance(Priority.newInstance(i + 1), "*", Resource.newInstance(256 + i % sizes, 1), 1));
    }
    return asks;
  }

  static String allocate(ApplicationMasterProtocol rm, int response, List<ResourceRequest> asks) throws Exception {
    AllocateResponse answer = rm.allocate(AllocateRequest.newInstance(response, 0.5f, asks, new ArrayList<>(), null));
    return "response " + answer.getResponseId();
  }

  public static void main(String[] arguments) throws Exception {
    Puppet puppet = new Puppet(c -> c.setUnmanagedAM(true));
    awaitState(puppet.id, EnumSet.of(YarnApplicationState.ACCEPTED));
    await("its token", () -> CLIENT.getApplicationReport(puppet.id).getAMRMToken() != null);
    UserGroupInformation caller = UserGroupInformation.createRemoteUser("unmanaged");
    caller.addToken(ConverterUtils.convertFromYarn(CLIENT.getApplicationReport(puppet.id).getAMRMToken(), Puppet.scheduler()));
    ApplicationMasterProtocol rm = Puppet.protocol(caller);
    rm.registerApplicationMaster(RegisterApplicationMasterRequest.newInstance("host", 5, "url"));
    call("limits.first", () -> allocate(rm, 0, asks(1, 1)));
    call("limits.keys", () -> allocate(rm, 1, asks(5000, 1)));
    call("limits.again", () -> allocate(rm, 1, asks(2, 1)));
    rm.finishApplicationMaster(FinishApplicationMasterRequest.newInstance(FinalApplicationStatus.SUCCEEDED, "ok", ""));
    System.exit(0);
  }
}
