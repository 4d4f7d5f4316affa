import java.net.InetSocketAddress;
import java.security.PrivilegedExceptionAction;
import java.util.*;
import org.apache.hadoop.ipc.ProtobufRpcEngine2;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.thirdparty.protobuf.Descriptors;
import org.apache.hadoop.thirdparty.protobuf.Message;
import org.apache.hadoop.yarn.api.records.*;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * The methods of YARN's protocols as Hadoop's own jars list them; with "call", what each answers to an empty request, the smallest that
 * can be sent.
 */
public class EveryMethod extends Surface {
  static final String[][] PROTOCOLS = {
      {"ApplicationClientProtocol", "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB"},
      {"ApplicationMasterProtocol", "org.apache.hadoop.yarn.api.ApplicationMasterProtocolPB"},
      {"ContainerManagementProtocol", "org.apache.hadoop.yarn.api.ContainerManagementProtocolPB"},
      {"ResourceTracker", "org.apache.hadoop.yarn.server.api.ResourceTrackerPB"},
      {"ResourceManagerAdministrationProtocol", "org.apache.hadoop.yarn.server.api.ResourceManagerAdministrationProtocolPB"}};

  static Descriptors.ServiceDescriptor service(String name) throws Exception {
    return (Descriptors.ServiceDescriptor) Class.forName("org.apache.hadoop.yarn.proto." + name + "$" + name + "Service")
        .getMethod("getDescriptor").invoke(null);
  }

  public static void main(String[] arguments) throws Exception {
    if (arguments.length == 0) {
      for (String[] protocol : PROTOCOLS)
        for (Descriptors.MethodDescriptor method : service(protocol[0]).getMethods()) row(protocol[0] + "." + method.getName(), "");
      return;
    }
    Puppet puppet = new Puppet(c -> {});
    puppet.register(1);
    puppet.grants(1, 256, 1);
    for (int i = 0; i < 2; ++i) puppet.allocate(1, null, null);
    call(0, CONF.getSocketAddr(YarnConfiguration.RM_ADDRESS, "", 8032), UserGroupInformation.getCurrentUser());
    call(1, Puppet.scheduler(), puppet.caller(1));
    Map.Entry<NodeId, Token> node = puppet.nmTokens.entrySet().iterator().next();
    InetSocketAddress address = new InetSocketAddress(node.getKey().getHost(), node.getKey().getPort());
    UserGroupInformation caller = UserGroupInformation.createRemoteUser(puppet.attempt(1).toString());
    caller.addToken(org.apache.hadoop.yarn.util.ConverterUtils.convertFromYarn(node.getValue(), address));
    call(2, address, caller);
    call(3, CONF.getSocketAddr(YarnConfiguration.RM_RESOURCE_TRACKER_ADDRESS, "", 8031), UserGroupInformation.getCurrentUser());
    call(4, CONF.getSocketAddr(YarnConfiguration.RM_ADMIN_ADDRESS, "", 8033), UserGroupInformation.getCurrentUser());
    System.exit(0);
  }

  static void call(int at, InetSocketAddress address, UserGroupInformation caller) throws Exception {
    String name = PROTOCOLS[at][0];
    Class<?> protocol = Class.forName(PROTOCOLS[at][1]);
    RPC.setProtocolEngine(CONF, protocol, ProtobufRpcEngine2.class);
    Object proxy = caller.doAs((PrivilegedExceptionAction<Object>) () -> RPC.getProxy(protocol, 1, address, CONF));
    for (Descriptors.MethodDescriptor method : service(name).getMethods()) {
      if (method.getName().equals("unRegisterNodeManager")) continue;  // it would take a real node away
      java.lang.reflect.Method found = null;
      for (java.lang.reflect.Method candidate : protocol.getMethods()) if (candidate.getName().equals(method.getName())) found = candidate;
      java.lang.reflect.Method target = found;
      Message empty = (Message) target.getParameterTypes()[1].getMethod("getDefaultInstance").invoke(null);
      call(name + "." + method.getName(), () -> {
        try {
          target.invoke(proxy, null, empty);
          return "answered";
        } catch (java.lang.reflect.InvocationTargetException e) {
          Throwable cause = e.getCause() instanceof org.apache.hadoop.thirdparty.protobuf.ServiceException ? e.getCause().getCause() : e.getCause();
          if (cause instanceof org.apache.hadoop.ipc.RemoteException) {
            org.apache.hadoop.ipc.RemoteException remote = (org.apache.hadoop.ipc.RemoteException) cause;
            String text = thrown(remote);
            return "! " + remote.getClassName() + " (" + remote.getErrorCode() + ")" + text.substring(text.indexOf(": "));
          }
          return thrown(cause);
        }
      });
    }
  }
}
