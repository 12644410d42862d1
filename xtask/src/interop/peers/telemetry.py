"""Receives OTLP, and lets a real Prometheus scrape the server.

Arguments: the program of the server, and for Prometheus its program and the guide page, each of whose
queries it answers. Prints one line for each span and metric that the OTLP receiver decoded, and for each
answer of Prometheus.
"""

import http.server
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

LIMIT = 40
TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
PARENT_ID = "b7ad6b7169203331"
PROTOCOL = "io.modelcontextprotocol/protocolVersion"
CLIENT = "io.modelcontextprotocol/clientInfo"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"

# Metrics that the server of the test does not have: their queries must only be valid.
WITHOUT_DATA = ["mcp_sdk_auth_"]

spans = []
metrics = {}
services = set()
lock = threading.Lock()


def value(any_value):
    return getattr(any_value, any_value.WhichOneof("value"))


def attributes(pairs):
    return {pair.key: value(pair.value) for pair in pairs}


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        assert self.headers["content-type"] == "application/x-protobuf", self.headers
        if self.path == "/v1/traces":
            request = trace_service_pb2.ExportTraceServiceRequest()
            answer = trace_service_pb2.ExportTraceServiceResponse()
        else:
            assert self.path == "/v1/metrics", self.path
            request = metrics_service_pb2.ExportMetricsServiceRequest()
            answer = metrics_service_pb2.ExportMetricsServiceResponse()
        request.ParseFromString(body)
        with lock:
            collect(request)
        encoded = answer.SerializeToString()
        self.send_response(200)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", str(len(encoded)))
        self.end_headers()
        self.wfile.write(encoded)

    def log_message(self, *_):
        pass


def collect(request):
    for resource in getattr(request, "resource_spans", []):
        services.add(attributes(resource.resource.attributes)["service.name"])
        for scope in resource.scope_spans:
            spans.extend(scope.spans)
    for resource in getattr(request, "resource_metrics", []):
        services.add(attributes(resource.resource.attributes)["service.name"])
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                metrics[metric.name] = metric


def wait_for(what, condition):
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    sys.exit(f"no {what} within {LIMIT} s")


def start_server(program, endpoint):
    environment = dict(
        os.environ,
        PORT="0",
        OTEL_EXPORTER_OTLP_ENDPOINT=endpoint,
        OTEL_METRIC_EXPORT_INTERVAL="500",
        OTEL_BSP_SCHEDULE_DELAY="200",
        OTEL_SERVICE_NAME="interop",
    )
    server = subprocess.Popen(
        [program, "--telemetry"], env=environment, stderr=subprocess.PIPE, text=True
    )
    for line in server.stderr:
        if "listening on " in line:
            threading.Thread(target=lambda: list(server.stderr), daemon=True).start()
            return server, line.split("listening on ", 1)[1].strip()
    sys.exit("the server does not start")


def post(url, message, **further):
    headers = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
    }
    headers.update({name.replace("_", "-"): value for name, value in further.items()})
    body = json.dumps(message).encode()
    request = urllib.request.Request(url, body, headers)
    with urllib.request.urlopen(request, timeout=LIMIT) as response:
        response.read()
        return response.headers


def make_traffic(url):
    """A failed call, a refused request, and a session that ends."""
    call(url, "test_error_handling")
    try:
        post(url, {}, host="attacker.example")
        sys.exit("a foreign host is not refused")
    except urllib.error.HTTPError as error:
        assert error.code == 403, error
    client = {"name": "interop", "version": "1"}
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    session = post(url, message)["mcp-session-id"]
    headers = {"mcp-session-id": session, "mcp-protocol-version": "2025-11-25"}
    request = urllib.request.Request(url, headers=headers, method="DELETE")
    urllib.request.urlopen(request, timeout=LIMIT).close()


def call(url, tool="test_simple_text"):
    """A tool call of 2026-07-28, with a trace context in `_meta`."""
    meta = {
        "traceparent": f"00-{TRACE_ID}-{PARENT_ID}-01",
        PROTOCOL: "2026-07-28",
        CLIENT: {"name": "interop", "version": "1"},
        CAPABILITIES: {},
    }
    params = {"name": tool, "arguments": {}, "_meta": meta}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": tool,
    }
    request = urllib.request.Request(url, json.dumps(message).encode(), headers)
    with urllib.request.urlopen(request, timeout=LIMIT) as response:
        result = json.load(response)
    assert "result" in result, result


def check_otlp():
    def find_span():
        with lock:
            return next((span for span in spans if span.name == "tools/call test_simple_text"), None)

    def find_metric():
        with lock:
            return metrics.get("mcp.server.operation.duration")

    span = wait_for("span", find_span)
    assert span.trace_id.hex() == TRACE_ID, span
    assert span.parent_span_id.hex() == PARENT_ID, span
    print("span", span.name, span.kind, sorted(attributes(span.attributes).items()))
    assert attributes(span.attributes)["gen_ai.tool.name"] == "test_simple_text"
    metric = wait_for("metric", find_metric)
    point = metric.histogram.data_points[0]
    bounds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]
    assert metric.unit == "s" and list(point.explicit_bounds) == bounds, metric
    print("metric", metric.name, sorted(attributes(point.attributes).items()))
    assert services == {"interop"}, services
    print("otlp: ok")


def free_port():
    with http.server.HTTPServer(("127.0.0.1", 0), Receiver) as server:
        return server.server_port


def queries(page):
    """The queries in the second column of the table of the dashboard."""
    with open(page, encoding="utf-8") as file:
        dashboard = file.read().split("# A dashboard", 1)[1].split("\n# ", 1)[0]
    rows = [line.strip().strip("|").split("|", 1) for line in dashboard.splitlines() if line.startswith("| ")]
    found = [query for row in rows for query in re.findall(r"`([^`]+)`", row[1])]
    assert len(found) >= 8, found
    return found


def check_guide(port, url, page):
    """Each query of the page has an answer. Traffic goes on, because a rate needs two samples."""
    for query in queries(page):

        def answer():
            make_traffic(url)
            return ask(port, query)

        if any(name in query for name in WITHOUT_DATA):
            wait_for(f"valid answer to {query}", lambda: ask(port, query) is not None)
            print("valid", query)
        else:
            wait_for(f"answer to {query}", answer)
            print("answered", query)


def check_prometheus(program, page, url):
    host = urllib.parse.urlsplit(url).netloc
    port = free_port()
    with tempfile.TemporaryDirectory() as home:
        config = os.path.join(home, "prometheus.yml")
        with open(config, "w", encoding="utf-8") as file:
            job = {
                "job_name": "mcp",
                "scrape_interval": "1s",
                "scrape_timeout": "1s",
                "static_configs": [{"targets": [host]}],
            }
            # JSON is YAML.
            json.dump({"scrape_configs": [job]}, file)
        log = open(os.path.join(home, "log"), "w", encoding="utf-8")
        prometheus = subprocess.Popen(
            [
                program,
                f"--config.file={config}",
                f"--storage.tsdb.path={home}/data",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stdout=log,
            stderr=log,
        )
        try:
            query = (
                'sum by (gen_ai_tool_name) (mcp_server_operation_duration_seconds_count'
                '{mcp_method_name="tools/call"})'
            )
            found = wait_for("answer of Prometheus", lambda: ask(port, query))
            print("prometheus", found)
            assert found[0]["metric"] == {"gen_ai_tool_name": "test_simple_text"}, found
            quantile = (
                "histogram_quantile(0.95, sum by (le) "
                "(mcp_server_operation_duration_seconds_bucket))"
            )
            wait_for("quantile", lambda: ask(port, quantile))
            check_guide(port, url, page)
            print("prometheus: ok")
        finally:
            prometheus.send_signal(signal.SIGTERM)
            prometheus.wait(LIMIT)
            log.close()


def ask(port, query):
    parameters = urllib.parse.urlencode({"query": query})
    try:
        url = f"http://127.0.0.1:{port}/api/v1/query?{parameters}"
        with urllib.request.urlopen(url, timeout=5) as response:
            return json.load(response)["data"]["result"]
    except OSError:
        return None


def main():
    receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    endpoint = f"http://127.0.0.1:{receiver.server_port}"
    server, url = start_server(sys.argv[1], endpoint)
    try:
        call(url)
        if len(sys.argv) > 2:
            check_prometheus(sys.argv[2], sys.argv[3], url)
        else:
            check_otlp()
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(LIMIT)


main()
