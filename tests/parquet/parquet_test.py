#!/usr/bin/env python3
"""Parquet between the engine and other programs: files of pyarrow's are read, the engine's are read by pyarrow; in one process, on a real
cluster and in a HDFS. `./test --parquet` runs it: it needs what tools/setup --parquet fetches."""
import datetime
import decimal
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/process"))
ARROW = subprocess.run([ROOT / "tools/setup", "--parquet-folder"], check=True, capture_output=True, text=True).stdout.strip()
sys.path.insert(0, ARROW)
import pyarrow  # noqa: E402
import pyarrow.parquet  # noqa: E402

import engine_test  # noqa: E402  (a cluster, and peers)
import fake_hdfs  # noqa: E402
import peers  # noqa: E402

BUILD = pathlib.Path(os.environ.get("FAIRLEAD_BUILD", ROOT / "build"))
ROWS = BUILD / "tests/parquet_rows"
DELAYS = BUILD / "examples/flight_delays"
EPOCH = datetime.datetime(1970, 1, 1)
# How files of others' differ: everything that pyarrow can say of pages.
WRITERS = {
    "as-pyarrow-does": {},
    "plain-pages": {"use_dictionary": False, "compression": "none"},
    "zstd-pages-2": {"compression": "zstd", "data_page_version": "2.0"},
    "gzip": {"compression": "gzip"},
    "lz4": {"compression": "lz4"},
    "brotli": {"compression": "brotli"},
    "checksums-small-pages": {"write_page_checksum": True, "data_page_size": 512},
    "many-row-groups": {"row_group_size": 7},
    "int96": {"use_deprecated_int96_timestamps": True},
    "delta": {"use_dictionary": False, "column_encoding": {"i32": "DELTA_BINARY_PACKED", "i64": "DELTA_BINARY_PACKED", "s": "DELTA_BYTE_ARRAY",
                                                           "bytes": "DELTA_LENGTH_BYTE_ARRAY", "d": "BYTE_STREAM_SPLIT"}},
}


def micros(moment):
    return (moment - EPOCH) // datetime.timedelta(microseconds=1)


def every(count):
    """A table with a column of each type, and what the engine must say of each row."""
    rows, wanted = [], []
    for i in range(count):
        moment = EPOCH + datetime.timedelta(days=i * 400 - 4000, seconds=i, milliseconds=i % 1000)
        row = {"b": i % 2 == 0, "i8": i % 256 - 128, "i16": i - 30000, "i32": -i * 100000, "i64": i * 10**15, "u8": i % 256, "u16": 65535 - i,
               "u32": 2**32 - 1 - i, "u64": 2**64 - 1 - i, "f": i / 8, "d": i / 3, "s": f"größe {i}", "bytes": f"b{i}" * (i % 3), "four": f"{i:04d}",
               "word": f"word {i % 5}", "day": (moment.date() - EPOCH.date()).days, "at_ms": micros(moment), "at_us": micros(moment) + 7,
               "at_ns": micros(moment) + 8, "noon": 12 * 3600 * 10**6 + i, "delay": i - 50, "city": f"city {i % 9}",
               "stops": list(range(i % 5)), "notes": [None, f"note {i}"][:i % 3], "flags": [i % 2 == 0] * (i % 4)}
        if i % 4 == 3:
            row = {name: value if isinstance(value, list) else None for name, value in row.items()}
            row["stops"] = None
        wanted.append(row)
        given = {name: value for name, value in row.items() if name not in ("delay", "city")}
        given["arrival"] = {"delay": row["delay"], "place": None if row["city"] is None else {"city": row["city"]}} if i % 8 != 7 else None
        for name in ("bytes", "four"):
            given[name] = None if row[name] is None else row[name].encode()
        if row["at_ns"] is not None:
            given["at_ns"] = row["at_ns"] * 1000 + 999  # less than a microsecond more
            given["at_ms"] = row["at_ms"] // 1000
            row["at_ms"] = given["at_ms"] * 1000
        rows.append(given)
    types = {"b": pyarrow.bool_(), "i8": pyarrow.int8(), "i16": pyarrow.int16(), "i32": pyarrow.int32(), "i64": pyarrow.int64(), "u8": pyarrow.uint8(),
             "u16": pyarrow.uint16(), "u32": pyarrow.uint32(), "u64": pyarrow.uint64(), "f": pyarrow.float32(), "d": pyarrow.float64(),
             "s": pyarrow.string(), "bytes": pyarrow.binary(), "four": pyarrow.binary(4), "word": pyarrow.dictionary(pyarrow.int32(), pyarrow.string()),
             "day": pyarrow.date32(), "at_ms": pyarrow.timestamp("ms"), "at_us": pyarrow.timestamp("us", "UTC"), "at_ns": pyarrow.timestamp("ns"),
             "noon": pyarrow.time64("us"), "arrival": pyarrow.struct([("delay", pyarrow.int32()), ("place", pyarrow.struct([("city", pyarrow.string())]))]),
             "stops": pyarrow.list_(pyarrow.int32()), "notes": pyarrow.list_(pyarrow.string()), "flags": pyarrow.list_(pyarrow.bool_())}
    columns = {name: pyarrow.array([row[name] for row in rows], type=kind) for name, kind in types.items()}
    return pyarrow.table(columns), wanted


class WithADirectory(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-parquet-"))
        self.addCleanup(shutil.rmtree, self.directory)

    def run_job(self, program, *arguments, fails=False, options=("--local[2]",)):
        command = [str(word) for word in (program, *options, *arguments)]
        run = subprocess.run(command, cwd=self.directory, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(run.returncode, 1 if fails else 0, run.stderr)
        return run.stderr if fails else run.stdout


class InOneProcess(WithADirectory):
    def test_files_of_pyarrows_are_read(self):
        table, wanted = every(200)
        for name, options in WRITERS.items():
            with self.subTest(name):
                pyarrow.parquet.write_table(table, self.directory / f"{name}.parquet", **options)
                self.run_job(ROWS, "every", f"{name}.parquet", name)
                lines = [line for part in sorted((self.directory / name).glob("part-*")) for line in part.read_text().splitlines()]
                self.assertEqual(len(lines), len(wanted))
                for line, row in zip(lines, wanted):
                    self.assertEqual(json.loads(line), row)

    def test_files_of_ours_are_read_by_pyarrow(self):
        for codec in ("none", "snappy", "zstd"):
            self.run_job(ROWS, "make", 5000, 3, codec, codec)
            files = sorted((self.directory / codec).glob("part-*.parquet"))
            self.assertEqual(len(files), 3)
            used = pyarrow.parquet.ParquetFile(files[0]).metadata.row_group(0).column(0).compression
            self.assertEqual(used, {"none": "UNCOMPRESSED"}.get(codec, codec.upper()))
            table = pyarrow.parquet.read_table(self.directory / codec)
            self.assertEqual([str(field.type) for field in table.schema],
                             ["int64", "int8", "uint16", "uint32", "uint64", "float", "double", "bool", "string", "int32", "date32[day]",
                              "timestamp[us, tz=UTC]", "list<element: int64 not null>", "list<element: string>"])
            self.assertEqual([field.nullable for field in table.schema], [False] * 9 + [True, False, True, False, True])
            rows = sorted(table.to_pylist(), key=lambda row: row["id"])
            self.assertEqual(len(rows), 5000)
            for i, row in enumerate(rows):
                words = [] if i % 5 == 0 else ["a", None, str(i)] if i % 2 == 0 else None
                self.assertEqual(None if row["at"] is None else micros(row["at"].replace(tzinfo=None)), None if i % 7 == 0 else (i - 1000) * 86399123457)
                self.assertEqual(row, {"id": i, "i8": (i + 128) % 256 - 128, "u16": i * 7 % 2**16, "u32": i * 1000003 % 2**32, "u64": 2**64 - 1 - i,
                                       "f": i / 4, "d": i * 1e100, "even": i % 2 == 0, "text": f"text {i % 1000}", "maybe": None if i % 3 == 0 else -i,
                                       "day": (EPOCH + datetime.timedelta(days=i - 1000)).date(), "at": row["at"],
                                       "numbers": [i * n for n in range(i % 4)], "words": words})

    def test_what_is_not_read_is_named(self):
        tables = {
            "decimal": pyarrow.array([decimal.Decimal("1.50")], pyarrow.decimal128(10, 2)),
            "map": pyarrow.array([[("a", 1)]], pyarrow.map_(pyarrow.string(), pyarrow.int64())),
            "lists": pyarrow.array([[[1]]], pyarrow.list_(pyarrow.list_(pyarrow.int64()))),
            "structs": pyarrow.array([[{"a": 1, "b": 2}]]),
            "half": pyarrow.array([1.0], pyarrow.float16()),
            "u64": pyarrow.array([2**63], pyarrow.uint64()),
        }
        pyarrow.parquet.write_table(pyarrow.table(tables), self.directory / "t.parquet")
        for kind, column, words in (("numbers", "decimal", "Decimal(precision=10, scale=2) in FIXED_LEN_BYTE_ARRAY, which does not fit a field of type int64_t"),
                                    ("texts", "decimal", "Decimal(precision=10, scale=2) in FIXED_LEN_BYTE_ARRAY, which does not fit a field of type std::string"),
                                    ("lists", "map", "a map, or a list of structs or lists, which are not read"),
                                    ("lists", "lists", "a map, or a list of structs or lists, which are not read"),
                                    ("lists", "structs", "a map, or a list of structs or lists, which are not read"),
                                    ("texts", "half", "Float16 in FIXED_LEN_BYTE_ARRAY, which does not fit a field of type std::string"),
                                    ("numbers", "u64", "Int(bitWidth=64, isSigned=false) in INT64, which does not fit a field of type int64_t")):
            with self.subTest(column):
                said = self.run_job(ROWS, kind, "t.parquet", column, fails=True)
                self.assertIn(f"job failed: cannot read {self.directory}/t.parquet as Parquet: column {column} is {words}", said)

    def test_each_file_of_a_dataset_is_looked_at(self):
        folder = self.directory / "in"
        folder.mkdir()
        pyarrow.parquet.write_table(pyarrow.table({"x": [1, 2]}), folder / "a.parquet")
        pyarrow.parquet.write_table(pyarrow.table({"x": ["three"]}), folder / "b.parquet")
        said = self.run_job(ROWS, "numbers", "in", "x", fails=True)
        self.assertIn("in/b.parquet as Parquet: column x is String in BYTE_ARRAY, which does not fit a field of type int64_t", said)
        (folder / "b.parquet").unlink()
        pyarrow.parquet.write_table(pyarrow.table({"y": [0], "x": [3]}), folder / "b.parquet")
        pyarrow.parquet.write_table(pyarrow.table({"x": pyarrow.array([], pyarrow.int64())}), folder / "c.parquet")  # a row group without rows
        (folder / "d.parquet").touch()
        self.assertEqual(self.run_job(ROWS, "numbers", "in", "x").split(), ["1", "2", "3"])

    def test_damaged_files_of_pyarrows_end_in_an_error_or_are_read(self):
        table, _ = every(200)
        tries = int(os.environ.get("FAIRLEAD_PARQUET_DAMAGED", "100"))
        for name, options in WRITERS.items():
            with self.subTest(name):
                pyarrow.parquet.write_table(table, self.directory / f"{name}.parquet", **options)
                said = self.run_job(ROWS, "damaged", f"{self.directory}/{name}.parquet", tries, os.environ.get("FAIRLEAD_SEED", "1"),
                                    options=("--local[1]", "--memory", "64"))
                failed, kib = map(int, re.match(rf"(\d+) of {tries} failed, (\d+) KiB\n", said).groups())
                self.assertTrue(0 < kib < 128 << 10, f"{kib} KiB, whatever sizes the file names")
                self.assertGreater(failed, tries // 4, said)  # without checksums changed values are values

    def test_an_encrypted_file_and_one_that_is_no_parquet(self):
        (self.directory / "t.parquet").write_bytes(b"PAR1" + bytes(100) + b"\x10\0\0\0PARE")
        self.assertIn("t.parquet as Parquet: it is encrypted", self.run_job(ROWS, "numbers", "t.parquet", "x", fails=True))
        (self.directory / "t.parquet").write_text("a,b\n1,2\n" * 10)
        self.assertIn("t.parquet as Parquet: it does not end with PAR1", self.run_job(ROWS, "numbers", "t.parquet", "x", fails=True))


def flights(count):
    """A table of flights, and the mean delay of each carrier."""
    carriers = [f"C{i * i % 11}" for i in range(count)]
    delays = [None if i % 17 == 0 else float(i % 90 - 20) for i in range(count)]
    sums = {}
    for carrier, delay in zip(carriers, delays):
        flown, known = sums.setdefault(carrier, [0, []])
        sums[carrier][0] = flown + 1
        if delay is not None:
            known.append(delay)
    wanted = [{"carrier": carrier, "flights": flown, "mean_delay": sum(known) / len(known) if known else None} for carrier, (flown, known) in sorted(sums.items())]
    return pyarrow.table({"number": list(range(count)), "carrier": carriers, "arr_delay": delays, "note": [f"{i * 7919:050}" for i in range(count)]}), wanted


def delays_in(files):
    return [row for file in sorted(files) for row in pyarrow.parquet.read_table(file).to_pylist()]


class InAHdfs(WithADirectory):
    def test_parquet_in_a_hdfs_is_read_and_saved(self):
        hdfs = fake_hdfs.FakeHdfs()
        self.addCleanup(hdfs.close)
        table, wanted = flights(20000)
        pyarrow.parquet.write_table(table, self.directory / "in.parquet", row_group_size=5000)
        hdfs.files["/in"] = (self.directory / "in.parquet").read_bytes()
        self.run_job(DELAYS, hdfs.url("/in"), hdfs.url("/out"))
        parts = [path for path in sorted(hdfs.files) if path.startswith("/out/part-")]
        for number, path in enumerate(parts):
            (self.directory / f"out-{number:03}").write_bytes(hdfs.files[path])
        self.assertEqual(delays_in(self.directory.glob("out-*")), wanted)
        self.assertIn("/out/_SUCCESS", hdfs.files)


class OnACluster(engine_test.WithACluster):
    def start(self, options, *job, executor_memory=256):
        command = [peers.BINARY, "submit", "--hadoop-conf", self.cluster.conf, "--json", "--executor-memory", executor_memory, *options, *job]
        return subprocess.Popen([str(word) for word in command], cwd=self.directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_a_job_with_parquet_in_and_out(self):
        table, wanted = flights(100_000)
        folder = self.directory / "flights"
        folder.mkdir()
        for number in range(3):
            pyarrow.parquet.write_table(table.slice(number * 33_000, 34_000 if number == 2 else 33_000), folder / f"{number}.parquet", row_group_size=4000)
        application, printed = self.finish(self.start(["--executors", 2], DELAYS, "flights", "delays"))
        self.assertIn(f"{len(wanted)} carriers", printed)
        self.assertEqual(delays_in((self.directory / "delays").glob("part-*.parquet")), wanted)
        stages = json.loads(self.tool("history", "--json", application))["stages"]
        read = sum(stage["summary"]["input_bytes"] for stage in stages)
        whole = sum(path.stat().st_size for path in folder.iterdir())
        self.assertTrue(0 < read < whole / 2, (read, whole))  # two columns of four


class Installed(WithADirectory):
    """A job in a repository of its own, with what `cmake --install` gives."""

    def build(self, *options):
        folder = self.directory / "job"
        folder.mkdir()
        shutil.copy(ROOT / "examples/flight_delays.cc", folder)
        (folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(job LANGUAGES CXX)\nset(CMAKE_BUILD_TYPE Release)\n"
            "find_package(Fairlead REQUIRED COMPONENTS parquet)\nadd_executable(delays flight_delays.cc)\n"
            "target_link_libraries(delays PRIVATE Fairlead::parquet)\ntarget_compile_options(delays PRIVATE -Wall -Wextra -Wpedantic -Werror)\n")
        subprocess.run(["cmake", "--install", BUILD, "--component", "engine", "--prefix", self.directory / "prefix"], check=True, capture_output=True)
        return subprocess.run(["cmake", "-G", "Ninja", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={self.directory}/prefix", *options],
                              capture_output=True, text=True, check=False, env={**os.environ, "HOME": str(self.directory), "XDG_CACHE_HOME": ""})

    def test_the_component_is_compiled_with_the_job(self):
        configured = self.build(f"-DFAIRLEAD_ARROW={ARROW}")
        self.assertEqual(configured.returncode, 0, configured.stderr)
        subprocess.run(["ninja", "-C", self.directory / "job/build"], check=True, capture_output=True)
        table, wanted = flights(1000)
        pyarrow.parquet.write_table(table, self.directory / "in.parquet")
        self.run_job(self.directory / "job/build/delays", "in.parquet", "out")
        self.assertEqual(delays_in((self.directory / "out").glob("part-*.parquet")), wanted)

    def test_without_arrow_the_configuration_says_how_it_is_had(self):
        configured = self.build()
        self.assertNotEqual(configured.returncode, 0)
        said = " ".join(configured.stderr.split())
        self.assertIn("Fairlead's component parquet needs Apache Arrow", said)
        self.assertIn("tools/setup --parquet", said)


if __name__ == "__main__":
    unittest.main()
