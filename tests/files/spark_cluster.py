"""A Spark cluster of two workers on loopback, from the package that pip installs."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyspark

#: Java's quick compiler and its simplest collector: what is tested lives for seconds.
FOR_SECONDS = {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}


@dataclass(frozen=True)
class Cluster:
    """Address of the master, and the workers."""

    url: str
    workers: list[subprocess.Popen[bytes]]

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        """Kill a worker and its executors, which would outlive it, without warning."""
        found = subprocess.run(["ps", "--ppid", str(worker.pid), "-o", "pid="], capture_output=True, text=True, check=False)
        worker.kill()
        for child in found.stdout.split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGKILL)


@contextlib.contextmanager
def running_cluster(folder: Path) -> Iterator[Cluster]:
    """Start a master and two workers of one core each."""
    home = Path(pyspark.__file__).parent
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    url = f"spark://127.0.0.1:{port}"
    environment = {
        **os.environ,
        **FOR_SECONDS,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_WORKER_DIR": str(folder / "work"),
        "SPARK_LOCAL_DIRS": str(folder / "spill"),
        "PYSPARK_PYTHON": sys.executable,
    }
    started: list[subprocess.Popen[bytes]] = []

    def start(kind: str, log: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [
            str(home / "bin" / "spark-class"),
            f"org.apache.spark.deploy.{kind}",
            "--host",
            "127.0.0.1",
            "--webui-port",
            "0",
        ]
        with open(folder / log, "wb") as stream:
            started.append(subprocess.Popen([*command, *arguments], env=environment, stdout=stream, stderr=stream, cwd=folder))
        return started[-1]

    try:
        start("master.Master", "master.log", "--port", str(port))
        _wait_for(lambda: _answers(port))
        workers = [start("worker.Worker", f"{name}.log", "--cores", "1", "--memory", "1g", url) for name in ("one", "two")]
        _wait_for(lambda: (folder / "master.log").read_text().count("Registering worker") == 2)
        yield Cluster(url, workers)
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _wait_for(happened: object) -> None:
    for _ in range(600):
        if happened():  # type: ignore[operator]
            return
        time.sleep(0.1)
    raise TimeoutError("the cluster did not start")
