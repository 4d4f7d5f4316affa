"""The Python counterpart of java/LocalizedJob.java; the change comes from a module of --py-files. Usage: localized_job.py OUTPUT."""
import sys

from pyspark import SparkContext


def words(_):
    from shout import shout
    with open("ending.txt") as ending, open("pack/inner/words.txt") as lines:
        end = ending.read()
        return [(shout(word.strip()) + end, 1) for word in lines]


context = SparkContext(appName="localized")
counts = context.parallelize(range(4), 4).flatMap(words).reduceByKey(lambda a, b: a + b, 2).collect()
with open(sys.argv[1], "w") as out:
    out.writelines(f"{word} {count}\n" for word, count in sorted(counts))
context.stop()
