// Messages of drivers and workers to a Standalone Master and its answers, made at random and written by Spark's own serializer:
// one JSON object a line with the stream and what is in it. Arguments: seed, number of messages; or "verify" and a file with lines of
// two streams, Spark's own and one that was written after it, which must be the same message. Compiled by spark_messages.py with
// the compiler among Spark's jars, for 2.12 and 2.13.
package org.apache.spark.rpc.netty {
  import org.apache.spark.SparkConf
  import org.apache.spark.rpc.{RpcEndpointAddress, RpcEndpointRef}

  /** What only this package may make. */
  object InNetty {
    def reference(conf: SparkConf, address: RpcEndpointAddress): RpcEndpointRef = new NettyRpcEndpointRef(conf, address, null)
    def checkExistence(name: String): AnyRef = RpcEndpointVerifier.CheckExistence(name)
  }
}

package org.apache.spark.deploy {
  import scala.util.Random

  import org.apache.spark.SparkConf
  import org.apache.spark.deploy.DeployMessages._
  import org.apache.spark.resource._
  import org.apache.spark.rpc.RpcEndpointAddress
  import org.apache.spark.rpc.netty.InNetty
  import org.apache.spark.serializer.JavaSerializer

  import com.fasterxml.jackson.databind.ObjectMapper
  import com.fasterxml.jackson.databind.node.{ArrayNode, JsonNodeFactory, ObjectNode}

  object SparkMessages {
    private val conf = new SparkConf(false)
    private val serializer = new JavaSerializer(conf).newInstance()
    private val nodes = JsonNodeFactory.instance

    private def hex(message: AnyRef): String = {
      val buffer = serializer.serialize[AnyRef](message)
      val out = new StringBuilder
      while (buffer.hasRemaining) out.append(f"${buffer.get() & 0xff}%02x")
      out.toString
    }

    private def texts(values: scala.collection.Seq[String]): ArrayNode = {
      val out = nodes.arrayNode()
      values.foreach(out.add(_))
      out
    }

    /** A random case: the message, and what is said of it. */
    final class Case(seed: Long) {
      private val random = new Random(seed)
      val said: ObjectNode = nodes.objectNode()

      private def pick[T](values: T*): T = values(random.nextInt(values.size))
      private def upTo(n: Int): Int = random.nextInt(n + 1)
      private def maybe[T](value: => T): Option[T] = if (random.nextBoolean()) Some(value) else None
      private def word(): String = {
        val letters = pick("abcXYZ-_./:=$\\\"' ", "\u0000\u007f\u0080\u07ff\u0800\uffff", "\u96c6\u7fa4\ud83d\ude80")
        val whole = letters.codePoints.toArray
        (0 until upTo(12)).map(_ => new String(Character.toChars(whole(random.nextInt(whole.length))))).mkString
      }
      private def count(): Int = pick(0, 1, 2, 3, 4, 5, 31, 32, 33, upTo(70), upTo(1100))

      /** The same elements in one of the kinds of sequences that a program may hand over. */
      private def sequence(elements: List[String]): Seq[String] = {
        val kind = upTo(7)
        val made: scala.collection.Seq[String] = kind match {
          case 0 => elements
          case 1 => elements.toVector
          case 2 => elements.foldLeft(Vector.empty[String])(_ :+ _)
          case 3 => elements.foldRight(Vector.empty[String])(_ +: _)
          case 4 => elements.toArray.toSeq
          case 5 => scala.collection.mutable.ArrayBuffer(elements: _*)
          case 6 => elements.toVector.drop(upTo(2)).filter(_ => random.nextInt(8) != 0)
          case 7 => elements.toArray.map(_.toString).toSeq.filter(_ => random.nextInt(8) != 0)
        }
        made.asInstanceOf[AnyRef] match {
          case fits: Seq[_] => fits.asInstanceOf[Seq[String]]
          case _ => made.toSeq
        }
      }
      private def someTexts(): Seq[String] = sequence(List.fill(count())(word()))

      private def profile(out: ObjectNode): ResourceProfile = {
        val tasks = new TaskResourceRequests().cpus(1 + upTo(3))
        val made =
          if (random.nextInt(5) == 0) new TaskResourceProfile(tasks.requests)
          else {
            val executors = new ExecutorResourceRequests()
            maybe(1 + upTo(15)).foreach { n => executors.cores(n); out.put("cores", n) }
            maybe(1L + upTo(100000)).foreach { n => executors.memory(s"${n}m"); out.put("memory_mib", n) }
            maybe(1L + upTo(100000)).foreach { n => executors.offHeapMemory(s"${n}m"); out.put("off_heap_mib", n) }
            maybe(1L + upTo(100000)).foreach { n => executors.pysparkMemory(s"${n}m"); out.put("pyspark_mib", n) }
            maybe(1L + upTo(100000)).foreach { n => executors.memoryOverhead(s"${n}m"); out.put("overhead_mib", n) }
            if (random.nextInt(4) == 0) {
              executors.resource("gpu", 1 + upTo(4), pick("", "/find gpus"), pick("", "vendor.com"))
              out.set[ArrayNode]("other", texts(Seq("gpu")))
            }
            new ResourceProfile(executors.requests, tasks.requests)
          }
        out.put("id", made.id)
        made
      }

      private def address(): RpcEndpointAddress = RpcEndpointAddress(pick("127.0.0.1", "driver.example.org", "[::1]"), 1 + upTo(65534), pick("AppClient", word() + "e"))

      private def command(out: ObjectNode): Command = {
        val environment = scala.collection.mutable.HashMap.empty[String, String]
        (0 until count()).foreach(_ => environment(word()) = word())
        val made = Command(word(), someTexts(), pick[scala.collection.Map[String, String]](environment, environment.toMap, environment.toMap.withDefaultValue("")), someTexts(), someTexts(), someTexts())
        out.put("main_class", made.mainClass)
        out.set[ArrayNode]("arguments", texts(made.arguments))
        val variables = out.putObject("environment")
        environment.foreach { case (name, value) => variables.put(name, value) }
        out.set[ArrayNode]("class_path", texts(made.classPathEntries))
        out.set[ArrayNode]("library_path", texts(made.libraryPathEntries))
        out.set[ArrayNode]("java_options", texts(made.javaOpts))
        made
      }

      def registration(): RegisterApplication = {
        val name = word()
        val cores = maybe(pick(random.nextInt(), 4))
        val limit = maybe(upTo(10))
        val user = word()
        val ui = word()
        said.put("name", name).put("user", user).put("ui_url", ui)
        cores.foreach(said.put("cores_max", _))
        limit.foreach(said.put("initial_executor_limit", _))
        val application = ApplicationDescription(
          name, cores, command(said.putObject("command")), ui, profile(said.putObject("profile")),
          maybe(new java.net.URI("file:/logs")), maybe("zstd"), limit, user)
        val driver = address()
        said.put("host", driver.rpcAddress.host).put("port", driver.rpcAddress.port).put("endpoint", driver.name)
        RegisterApplication(application, InNetty.reference(conf, driver))
      }

      private def requests(): RequestExecutors = {
        val application = word()
        said.put("application", application)
        val totals = said.putArray("totals")
        val wanted = (0 until pick(0, 1, 2, 3, 4, 5, 6, upTo(40))).map { _ =>
          val one = totals.addObject()
          val total = upTo(1000)
          val made = profile(one)
          one.put("total", total)
          made -> total
        }
        RequestExecutors(application, wanted.toMap)
      }

      private def updated(): ExecutorUpdated = {
        // Not ExecutorState.values: that changes the enumeration, which 2.12 writes whole, and a master never asks for it.
        val state = ExecutorState(upTo(6))
        val made = ExecutorUpdated(random.nextInt(), state, maybe(word()), maybe(random.nextInt()), maybe(word()))
        said.put("executor", made.id).put("state", state.id)
        made.message.foreach(said.put("message", _))
        made.exitStatus.foreach(said.put("exit_status", _))
        made.workerHost.foreach(said.put("worker_host", _))
        made
      }

      private def added(): ExecutorAdded = {
        val made = ExecutorAdded(random.nextInt(), word(), address().rpcAddress.hostPort, random.nextInt(), random.nextInt())
        said.put("executor", made.id).put("worker", made.workerId).put("host_port", made.hostPort)
        said.put("cores", made.cores).put("memory_mib", made.memory)
        made
      }

      /** The master's answer with a reference to itself, and the registration that it follows. */
      private def referring(): AnyRef = {
        val master = RpcEndpointAddress(address().rpcAddress, "Master")
        val reference = InNetty.reference(conf, master)
        said.put("registration", hex(new Case(random.nextLong()).registration()))
        said.put("master_host", master.rpcAddress.host).put("master_port", master.rpcAddress.port)
        val text = word()
        said.put("text", text)
        if (random.nextBoolean()) RegisteredApplication(text, reference) else MasterChanged(reference, text)
      }

      // ---- between workers and their master: of these only the streams are compared, read and written again

      private def resources(): Map[String, ResourceInformation] =
        (0 until upTo(4)).map { n => s"kind $n" -> new ResourceInformation(s"kind $n", Array.fill(upTo(3))(word())) }.toMap
      private def worker() = InNetty.reference(conf, RpcEndpointAddress(address().rpcAddress, "Worker"))
      private def executor() = new ExecutorDescription(word(), upTo(1000), upTo(5), upTo(64), upTo(100000), ExecutorState(upTo(6)))
      private def some[T](one: => T): List[T] = List.fill(pick(0, 1, 2, 3, upTo(40)))(one)
      private def driver(): DriverDescription = DriverDescription(
        word(), upTo(100000), upTo(64), random.nextBoolean(), command(nodes.objectNode()),
        some(new ResourceRequirement(word(), 1 + upTo(3), 1)).take(4))

      private def driverState(): DriverStateChanged = {
        val thrown = maybe(new IllegalStateException(word(), pick(null, new RuntimeException(word()))))
        thrown.foreach { e => said.put("exception", e.getClass.getName + ": " + e.getMessage) }
        DriverStateChanged(word(), master.DriverState(upTo(7)), thrown)
      }

      private def ofWorker(): AnyRef = random.nextInt(7) match {
        case 0 =>
          val where = address().rpcAddress
          RegisterWorker("w" + word(), where.host, where.port, worker(), 1 + upTo(64), 1 + upTo(100000), word(), address().rpcAddress, resources())
        case 1 => Heartbeat(word(), worker())
        case 2 => ExecutorStateChanged(word(), upTo(1000), ExecutorState(upTo(6)), maybe(word()), maybe(random.nextInt()))
        case 3 => driverState()
        case 4 => WorkerLatestState(word(), some(executor()), someTexts())
        case 5 =>
          WorkerSchedulerStateResponse(word(), some(WorkerExecutorStateResponse(executor(), resources())),
            some(WorkerDriverStateResponse(word(), resources())))
        case 6 => WorkerDecommissioning(word(), worker())
      }

      private def ofMaster(): AnyRef = random.nextInt(10) match {
        case 0 => RegisteredWorker(InNetty.reference(conf, RpcEndpointAddress(address().rpcAddress, "Master")), word(), address().rpcAddress, random.nextBoolean())
        case 1 => RegisterWorkerFailed(word())
        case 2 => MasterInStandby
        case 3 => ReconnectWorker(word())
        case 4 =>
          LaunchExecutor(word(), word(), upTo(1000), upTo(5), registration().appDescription, upTo(64), upTo(100000), resources())
        case 5 => LaunchDriver(word(), driver(), resources())
        case 6 => KillExecutor(word(), word(), upTo(1000))
        case 7 => KillDriver(word())
        case 8 => ApplicationFinished(word())
        case 9 => DecommissionWorker
      }

      def message(): AnyRef = random.nextInt(14) match {
        case 10 | 11 => ofWorker()
        case 12 | 13 => ofMaster()
        case 0 => InNetty.checkExistence(named("name"))
        case 1 | 2 => registration()
        case 3 => UnregisterApplication(named("application"))
        case 4 | 5 => requests()
        case 6 =>
          val application = named("application")
          val executors = someTexts()
          said.set[ArrayNode]("executors", texts(executors))
          KillExecutors(application, executors)
        case 7 => if (random.nextBoolean()) MasterChangeAcknowledged(named("application")) else ApplicationRemoved(named("message"))
        case 8 => if (random.nextBoolean()) updated() else added()
        case 9 => referring()
      }
      private def named(field: String): String = {
        val text = word()
        said.put(field, text)
        text
      }
    }

    private def read(hex: String): AnyRef =
      serializer.deserialize[AnyRef](java.nio.ByteBuffer.wrap(hex.grouped(2).map(Integer.parseInt(_, 16).toByte).toArray))

    /** The kinds of sequences do not matter; a description of an executor has no equality, but says all in its text. */
    private def same(a: AnyRef, b: AnyRef): Boolean = {
      def text(message: AnyRef): String = message.toString.replaceAll("\\b(List|Vector|ArraySeq|WrappedArray|ArrayBuffer)\\(", "Seq(")
      a == b || (!a.isInstanceOf[LaunchDriver] && !a.isInstanceOf[LaunchExecutor] && a.getClass == b.getClass && text(a) == text(b))
    }

    private def verify(file: String): Unit = {
      val pairs = scala.io.Source.fromFile(file).getLines().map(_.split(" ")).toList
      val different = pairs.filter { pair => !same(read(pair(0)), read(pair(1))) }
      different.take(5).foreach { pair => println(s"${read(pair(0))}\n  was written again as ${read(pair(1))}") }
      println(s"${pairs.size} written again, ${different.size} different")
      if (pairs.isEmpty || different.nonEmpty) sys.exit(1)
    }

    def main(args: Array[String]): Unit = {
      if (args(0) == "verify") return verify(args(1))
      val mapper = new ObjectMapper()
      for (number <- 0 until args(1).toInt) {
        val one = new Case(args(0).toLong * 1000003 + number)
        val message = one.message()
        val line = nodes.objectNode()
        line.put("class", message.getClass.getName).put("hex", hex(message))
        line.set[ObjectNode]("said", one.said)
        println(mapper.writeValueAsString(line))
      }
    }
  }
}
