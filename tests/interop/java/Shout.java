import java.util.Locale;
import java.util.function.UnaryOperator;

/** The class that LocalizedJob finds in a jar of --jars. */
public class Shout implements UnaryOperator<String> {
  @Override
  public String apply(String word) {
    return word.toUpperCase(Locale.ROOT);
  }
}
