import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * A JVM program that counts words with what was localized for it: every task reads the words of an archive's file, ends each as the
 * file of --files says, and changes it by a class of --jars. Writes "word count" lines, sorted, to the file named by its argument.
 */
public class LocalizedJob {
  @SuppressWarnings("unchecked")
  static UnaryOperator<String> fromJar() throws Exception {
    Class<?> type = Thread.currentThread().getContextClassLoader().loadClass("Shout");
    return (UnaryOperator<String>) type.getDeclaredConstructor().newInstance();
  }

  public static void main(String[] arguments) throws Exception {
    JavaSparkContext context = new JavaSparkContext(new SparkConf().setAppName("localized"));
    TreeMap<String, Integer> counts = new TreeMap<>(context
        .parallelize(Arrays.asList(1, 2, 3, 4), 4)
        .flatMap(task -> {
          String ending = Files.readString(Path.of("ending.txt"));
          UnaryOperator<String> change = fromJar();
          return Files.lines(Path.of("pack/inner/words.txt")).map(word -> change.apply(word) + ending).iterator();
        })
        .mapToPair(word -> new Tuple2<>(word, 1))
        .reduceByKey(Integer::sum, 2)
        .collectAsMap());
    StringBuilder out = new StringBuilder();
    counts.forEach((word, count) -> out.append(word).append(' ').append(count).append('\n'));
    Files.writeString(Path.of(arguments[0]), out);
    context.stop();
  }
}
