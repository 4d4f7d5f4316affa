import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.net.DNSToSwitchMapping;
import org.apache.hadoop.net.NetworkTopology;

/** The racks of net.topology.table.file.name by host name. Hadoop's own TableMapping asks by address, which all DataNodes of one machine share. */
public class HostNameTable extends Configured implements DNSToSwitchMapping {
  @Override
  public List<String> resolve(List<String> names) {
    List<String> racks = new ArrayList<>();
    for (String name : names) racks.add(rackOf(name));
    return racks;
  }

  private String rackOf(String name) {
    try {
      for (String line : Files.readAllLines(Paths.get(getConf().get("net.topology.table.file.name")))) {
        String[] words = line.trim().split("\\s+");
        if (words.length == 2 && words[0].equals(name)) return words[1];
      }
    } catch (java.io.IOException error) {
      throw new java.io.UncheckedIOException(error);
    }
    return NetworkTopology.DEFAULT_RACK;
  }

  @Override
  public void reloadCachedMappings() {}

  @Override
  public void reloadCachedMappings(List<String> names) {}
}
