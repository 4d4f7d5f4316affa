package org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.converter;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Hadoop's own fs2cs over many directories in one JVM. Each argument is a directory with fair-scheduler.xml, yarn-site.xml and
 * `options` (a word a line); what comes of it goes to `out` below it. A file that the converter refuses is named on standard output.
 */
public final class ConvertFairFiles {
  /** A file that the FairScheduler itself would not start with ends in an exception. */
  private static boolean converts(List<String> words) {
    try {
      return new FSConfigToCSConfigArgumentHandler().parseAndConvert(words.toArray(new String[0])) == 0;
    } catch (Exception e) {
      System.err.println(e);
      return false;
    }
  }

  public static void main(String[] directories) throws Exception {
    for (String name : directories) {
      Path directory = Path.of(name);
      Files.createDirectories(directory.resolve("out"));
      List<String> words = new ArrayList<>(List.of("-y", name + "/yarn-site.xml", "-f", name + "/fair-scheduler.xml", "-o", name + "/out", "-s"));
      for (String word : Files.readAllLines(directory.resolve("options"))) {
        if (!word.isBlank()) words.add(word.trim());
      }
      if (!converts(words)) System.out.println("refused " + name);
    }
  }
}
