"""Calls of a server directly, through our gateway, and through proxies in Python, on one processor.

    python3 checks/bench/programs/gateway.py [--rounds N] [--seconds S]

The server behind a gateway runs on another processor, with the load generator. The processor time is that of the measured
program alone; figures are medians. The Python proxies are those that `cargo xtask interop` has installed.
"""

import argparse, contextlib, os, statistics, sys
from common import ROOT, TARGET, binary, build, cpu_seconds, free_port, load, server

INTEROP = os.path.join(TARGET, "interop")
FASTMCP = [os.path.join(INTEROP, "python-2/bin/python"), os.path.join(ROOT, "xtask/src/interop/peers/proxy_fastmcp.py")]
MCP_PROXY = [os.path.join(INTEROP, "python-tools/bin/mcp-proxy")]
SERVER, GATEWAY = binary("bench-server"), binary("bench-gateway")

# Commands from the port of the program and of the server behind it.
FRONTS = {
    "direct": lambda port, behind: [SERVER, "http", port],
    "mcp gateway": lambda port, behind: [GATEWAY, port, f"http://127.0.0.1:{behind}/mcp"],
    "mcp gateway, pipe": lambda port, behind: [GATEWAY, port, "--", SERVER, "stdio"],
    "FastMCP proxy": lambda port, behind: [*FASTMCP, f"http://127.0.0.1:{behind}/mcp", port],
    "mcp-proxy": lambda port, behind: [*MCP_PROXY, "--port", port, "--", SERVER, "stdio"],
}
LOADS = [
    ("call, 16 conn.", ["call", "--connections", "16"], ["direct", "mcp gateway", "mcp gateway, pipe"]),
    ("session, 16", ["call", "--era", "session", "--connections", "16"], ["direct", "mcp gateway", "FastMCP proxy"]),
    ("1 MiB, 4 conn.", ["big", "--connections", "4"], ["direct", "mcp gateway", "mcp gateway, pipe"]),
    ("session, pipe behind", ["call", "--era", "session", "--connections", "16"], ["direct", "mcp gateway, pipe", "mcp-proxy"]),
]


def sample(front, arguments, seconds):
    port, behind = free_port(), free_port()
    with contextlib.ExitStack() as stack:
        if front in ("mcp gateway", "FastMCP proxy"):
            stack.enter_context(server([SERVER, "http", behind], behind, cpu=-1))
        process = stack.enter_context(server(FRONTS[front](port, behind), port, cpu=0))
        load(port, *arguments, "--seconds", "0.3", cpu=-1)
        before = cpu_seconds(process.pid)
        result = load(port, *arguments, "--seconds", str(seconds), cpu=-1)
        result["cpu_us"] = (cpu_seconds(process.pid) - before) / max(result["requests"], 1) * 1e6
        return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    flags = parser.parse_args()
    build()
    errors = 0
    print(f"{'load':22}{'program':20}{'req/s':>10}{'p50 us':>10}{'p99 us':>10}{'cpu us':>10}{'errors':>8}")
    for label, arguments, fronts in LOADS:
        fronts = [front for front in fronts if os.path.exists(FRONTS[front]("0", "0")[0])]
        samples = {front: [] for front in fronts}
        for number in range(flags.rounds):
            for front in fronts if number % 2 == 0 else fronts[::-1]:
                samples[front].append(sample(front, arguments, flags.seconds))
        for front in fronts:
            middle = lambda key: statistics.median(it[key] or 0 for it in samples[front])
            wrong = sum(it["errors"] for it in samples[front])
            figures = "".join(f"{middle(key):10.0f}" for key in ("req_per_s", "p50_us", "p99_us", "cpu_us"))
            print(f"{label:22}{front:20}{figures}{wrong:8}")
            errors += wrong
    sys.exit(errors > 0)


main()
