#!/usr/bin/env python3
"""Writes the guide as the source of an mdBook: `docs/book.py FOLDER && mdbook build FOLDER`."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
API = "https://docs.rs/omnimcp/latest/mcp/index.html?search="
CONFIG = """[book]
title = "The MCP SDK for Rust"
language = "en"
[output.html.playground]
runnable = false
"""


def link(match):
    """Converts a link of rustdoc."""
    text, target = match.group(1), match.group(2) or match.group(1).strip("`")
    if re.match(r"https?:|#|[\w./-]+\.md", target) or (not match.group(2) and "`" not in match.group(1)):
        return match.group(0)
    path = re.sub(r"^(\w+@)?(crate::|mcp::|mcp_\w+::)?|[!()]+$", "", target)
    guide, _, part = path.partition("#")
    if guide.startswith("guide::"):
        file = FILES[guide.removeprefix("guide::")]
        return f"[{text}]({file}{'#' + part if part else ''})"
    return f"[{text}]({API}{guide})"


def page(text):
    """Converts the code blocks, headings and links of a page."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    for index, part in enumerate(parts):
        if index % 2:
            first, rest = part.split("\n", 1)
            first = re.sub(r"^```(|no_run|ignore|compile_fail|should_panic)$", r"```rust,\1", first).rstrip(",")
            parts[index] = f"{first}\n{rest}"
        else:
            part = re.sub(r"^#", "##", part, flags=re.M)
            parts[index] = re.sub(r"(?<!!)\[((?:`[^`]+`|[^\][`])+)\](?:\(([^)\s]+)\)|(?![:(]))", link, part)
    return "".join(parts)


guide = (ROOT / "mcp/src/guide.rs").read_text()
FILES = dict(re.findall(r'^    (\w+): "([\w.-]+)"', guide, re.M))
source = Path(sys.argv[1]) / "src"
(source / "cli").mkdir(parents=True, exist_ok=True)
summary = ["[Introduction](index.md)\n", "# Guide\n"]
questions = re.sub(r"^//! ?", "", guide[guide.index("//! # Questions") : guide.index("\n/// ")], flags=re.M)
overview = (ROOT / "mcp/src/docs" / "crate.md").read_text().replace("(guide#", "(#")
(source / "index.md").write_text("# The MCP SDK for Rust\n\n" + page(f"{overview}\n{questions}"))
for topic, name in re.findall(r"^//! \| (.+) \| \[`(\w+)`\] \|", guide, re.M):
    title = topic[0].upper() + topic[1:]
    (source / FILES[name]).write_text(f"# {title}\n\n" + page((ROOT / "mcp/src/docs" / FILES[name]).read_text()))
    summary.append(f"- [{title}]({FILES[name]})")
summary.append("\n# Command line\n")
for file in sorted((ROOT / "docs/cli").glob("*.md")):
    (source / "cli" / file.name).write_text(file.read_text())
    summary.append(f"- [mcp {file.stem}](cli/{file.name})".replace("mcp mcp", "mcp"))
(source / "SUMMARY.md").write_text("\n".join(summary) + "\n")
(source.parent / "book.toml").write_text(CONFIG)
