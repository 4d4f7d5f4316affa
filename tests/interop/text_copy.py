"""Copies a text, a task a block, by Spark's JVM alone: text_copy.py FROM DIRECTORY"""
import sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("text copy").getOrCreate()
spark.sparkContext._jsc.textFile(sys.argv[1]).saveAsTextFile("file://" + sys.argv[2])
spark.stop()
