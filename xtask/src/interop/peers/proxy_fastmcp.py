"""Proxy of FastMCP: serves the server at a URL at another port."""

import sys
from fastmcp.server import create_proxy

url, port = sys.argv[1:]
proxy = create_proxy(url)
proxy.run(transport="http", host="127.0.0.1", port=int(port), show_banner=False)
