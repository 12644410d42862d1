"""Programs of the measurements: servers that print their address, loads that print JSON."""

import json, os, re, socket, subprocess, tempfile, time
from contextlib import contextmanager

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
TARGET = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
# Other profiles only show that the programs work.
PROFILE = os.environ.get("PROFILE", "release")
CPUS = sorted(os.sched_getaffinity(0))
TICK = os.sysconf("SC_CLK_TCK")


def build():
    profile = {"debug": "dev"}.get(PROFILE, PROFILE)
    subprocess.run(["cargo", "build", "--profile", profile, "--package", "bench", "--bins"], cwd=ROOT, check=True)


def binary(name):
    return os.path.join(TARGET, PROFILE, name)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return str(listener.getsockname()[1])


def pinned(cpu):
    return lambda: os.sched_setaffinity(0, {CPUS[cpu]})


@contextmanager
def server(command, port, cpu=None, env=None):
    """Runs a server until the end of the block."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, preexec_fn=None if cpu is None else pinned(cpu), env={**os.environ, **(env or {})}
        )
        try:
            deadline = time.monotonic() + 60
            while socket.socket().connect_ex(("127.0.0.1", int(port))):
                if process.poll() is not None or time.monotonic() > deadline:
                    log.seek(0)
                    raise SystemExit(f"{command}: {log.read().decode(errors='replace')}")
                time.sleep(0.05)
            yield process
        finally:
            process.terminate()
            process.wait()


def load(port, *arguments, cpu=None):
    command = [binary("bench-load"), port, *arguments]
    output = subprocess.run(command, check=True, capture_output=True, preexec_fn=None if cpu is None else pinned(cpu)).stdout
    return json.loads(output)


def cpu_seconds(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(") ", 1)[1].split(" ")
    return (int(fields[11]) + int(fields[12])) / TICK


def resident(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{pid}/status").read())[1]) * 1024


def open_files(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))
