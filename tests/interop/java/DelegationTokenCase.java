import java.io.File;
import java.security.PrivilegedExceptionAction;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.security.token.TokenIdentifier;
import org.apache.hadoop.yarn.client.ClientRMProxy;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.security.client.RMDelegationTokenIdentifier;
import org.apache.hadoop.yarn.util.ConverterUtils;

/** One step of a delegation token's life: get FILE RENEWER, renew FILE, use FILE (without a ticket), cancel FILE. */
public class DelegationTokenCase {
  static final Text ALIAS = new Text("token");

  public static void main(String[] words) throws Exception {
    YarnConfiguration conf = new YarnConfiguration();
    UserGroupInformation.setConfiguration(conf);
    File file = new File(words[1]);
    switch (words[0]) {
      case "get":
        get(conf, file, words[2]);
        break;
      case "renew":
        read(file, conf).renew(conf);
        break;
      case "cancel":
        read(file, conf).cancel(conf);
        break;
      case "use":
        use(conf, file);
        break;
      default:
        throw new IllegalArgumentException(words[0]);
    }
  }

  static void get(YarnConfiguration conf, File file, String renewer) throws Exception {
    try (YarnClient client = YarnClient.createYarnClient()) {
      client.init(conf);
      client.start();
      Token<RMDelegationTokenIdentifier> token =
          ConverterUtils.convertFromYarn(client.getRMDelegationToken(new Text(renewer)), (Text) null);
      token.setService(ClientRMProxy.getRMDelegationTokenService(conf));
      System.out.println(token.decodeIdentifier());
      Credentials credentials = new Credentials();
      credentials.addToken(ALIAS, token);
      credentials.writeTokenStorageFile(new org.apache.hadoop.fs.Path(file.toURI()), conf);
    }
  }

  static Token<? extends TokenIdentifier> read(File file, YarnConfiguration conf) throws Exception {
    return Credentials.readTokenStorageFile(file, conf).getToken(ALIAS);
  }

  static void use(YarnConfiguration conf, File file) throws Exception {
    conf.setLong(YarnConfiguration.RESOURCEMANAGER_CONNECT_MAX_WAIT_MS, 2000);
    UserGroupInformation somebody = UserGroupInformation.createRemoteUser("somebody");
    somebody.addToken(read(file, conf));
    somebody.doAs((PrivilegedExceptionAction<Void>) () -> {
      try (YarnClient client = YarnClient.createYarnClient()) {
        client.init(conf);
        client.start();
        System.out.println(client.getApplications().size() + " applications");
      }
      return null;
    });
  }
}
