"""A server with very many idle sessions, and one with very many open GET streams. Both still answer calls.

    python3 checks/bench/programs/scale.py [--sessions N] [--streams N]

Prints the memory of each session and stream, the 99th percentile of calls meanwhile, and the time and memory until all is
given back. Beyond the limit of open files, `bench-streams` has the streams in memory.
"""

import argparse, json, os, resource, subprocess, sys, time
from common import binary, build, free_port, load, open_files, resident, server

# Returns freed memory to the system, so that the resident memory shows what the server holds.
ALLOCATOR = {"MALLOC_TRIM_THRESHOLD_": "65536"}
# Streams of one load generator. Each has a file there, too.
EACH = 10_000
QUIET_SECONDS = 120


def calls(port, faults):
    result = load(port, "call", "--seconds", "3")
    if result["errors"]:
        faults.append(f"calls: {result['last_error']}")
    return result["p99_us"]


def hold(port, count, is_stream):
    command = [binary("bench-load"), port, "sessions", "--count", str(count), "--connections", "8"]
    command += ["--streams"] if is_stream else []
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdout.readline()  # `holding`
    return process


def measure(what, count, each, faults):
    port = free_port()
    with server([binary("bench-server"), "http", port, "--many"], port, env=ALLOCATOR) as process:
        calls(port, faults)
        alone = calls(port, faults)
        before, files = resident(process.pid), open_files(process.pid)
        start = time.monotonic()
        parts = [min(each, count - at) for at in range(0, count, each)]
        holders = [hold(port, part, what == "stream") for part in parts]
        opened = time.monotonic() - start
        held = resident(process.pid) - before
        meanwhile = calls(port, faults)
        start = time.monotonic()
        results = [json.loads(holder.communicate()[0]) for holder in holders]
        faults.extend(result["last_error"] for result in results if result["last_error"])
        while open_files(process.pid) > files and time.monotonic() - start < QUIET_SECONDS:
            time.sleep(0.05)
        given_back = time.monotonic() - start
        calls(port, faults)
        if open_files(process.pid) > files:
            faults.append(f"{what}s were not given back")
        if sum(result["requests"] for result in results) != count:
            faults.append(f"not all {what}s were opened")
        show(what, count, opened, held / count, alone, meanwhile, given_back, resident(process.pid) - before)


def show(what, count, opened, each, alone, meanwhile, given_back, left):
    print(
        f"{what:8}{count:10}{opened:10.1f} s{each:12.0f}{alone:9.0f} us{meanwhile:12.0f} us{given_back:13.1f} s"
        f"{left / 1024:9.0f} kB",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessions", type=int, default=1_000_000)
    parser.add_argument("--streams", type=int, default=50_000)
    flags = parser.parse_args()
    build()
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    streams = min(flags.streams, limit - 300)
    faults = []
    print("             count   opened in  bytes each  p99 alone  p99 meanwhile  given back in        left")
    if flags.sessions:
        measure("session", flags.sessions, flags.sessions, faults)
    if streams:
        measure("stream", streams, EACH, faults)
    if streams < flags.streams:
        output = subprocess.check_output([binary("bench-streams"), str(flags.streams)], env={**os.environ, **ALLOCATOR})
        it = json.loads(output)
        figures = [it[key] for key in ("opened_s", "bytes_each", "p99_alone_us", "p99_meanwhile_us", "given_back_s", "left_bytes")]
        show("memory", it["count"], *figures)
    for fault in faults:
        print(f"FAULT: {fault}")
    sys.exit(bool(faults))


main()
