import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/** A driver for --deploy-mode cluster: says that it lives, waits to be told, sums on its executors. Argument: a directory. */
public class ClusterJob {
  public static void main(String[] args) throws Exception {
    Path directory = Path.of(args[0]);
    Files.writeString(directory.resolve("life-" + ProcessHandle.current().pid()), "");
    while (!Files.exists(directory.resolve("go"))) Thread.sleep(50);
    List<Integer> numbers = new ArrayList<>();
    for (int i = 0; i < 1000; ++i) numbers.add(i);
    try (JavaSparkContext context = new JavaSparkContext(new SparkConf())) {
      int sum = context.parallelize(numbers, 4).map(n -> n * 2).reduce(Integer::sum);
      Files.writeString(directory.resolve("part"), Integer.toString(sum));
    }
    Files.move(directory.resolve("part"), directory.resolve("result"));
  }
}
