// The skills of the server: their instructions and files, verified before they are shown.

import { request, store } from "./backend.js";
import { catalog, listOf, runner } from "./catalog.js";
import { text } from "./contents.js";
import { button, el, fill, json, plain, size } from "./dom.js";

/** The extension of skills. */
const EXTENSION = "io.modelcontextprotocol/skills";

export function show(root, selected) {
  return catalog(root, selected, {
    name: "skills",
    change: "skills",
    load: () => (store.state.connected && !store.state.capabilities?.extensions?.[EXTENSION] ? [] : listOf("skills/list", "skills")),
    key: (skill) => skill.uri,
    label: (skill) => skill.frontmatter?.name ?? skill.uri,
    note: (skill) => skill.frontmatter?.description,
    detail,
  });
}

function detail(skill) {
  const read = runner("Read", () => request("skills/get", { uri: skill.uri }), ({ instructions }) => el("div", { class: "content" }, text(instructions, 0, true)));
  const files = Array.isArray(skill.resources) ? skill.resources : [];
  return [
    el("h2", {}, skill.frontmatter?.name ?? skill.uri),
    el("p", {}, el("code", {}, skill.uri)),
    el("p", { class: "text" }, skill.frontmatter?.description ?? ""),
    el("form", { onsubmit: read.start }, read.element),
    el("h3", {}, "Files"),
    files.length ? files.map((it) => file(skill, it)) : el("p", { class: "quiet" }, "The server lists no files: the content is dynamic."),
    el("details", {}, el("summary", {}, "Definition"), json(skill)),
  ];
}

function file(skill, { uri, size: bytes, digest }) {
  const shown = el("div", { "aria-live": "polite" });
  const read = async () => {
    try {
      const { text, bytes: read } = await request("skills/get", { uri: skill.uri, file: uri });
      fill(shown, typeof text === "string" ? plain(text) : el("p", {}, `${size(read)}, no text`));
    } catch (error) {
      fill(shown, el("p", { class: "bad", role: "alert" }, error.message));
    }
  };
  return el("div", { class: "content" },
    el("div", { class: "row" }, button("Read the file", read, { "aria-label": `Read the file ${uri}` }), el("code", {}, uri)),
    el("p", { class: "quiet" }, `${size(bytes)}, ${digest}`), shown);
}
