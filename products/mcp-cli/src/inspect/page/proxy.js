// The sandbox proxy: it shows the document of a view in a frame without an origin, and passes messages between
// the view and the page. It runs in another origin than the page, and creates no requests of its own.

const settings = new URLSearchParams(location.search);
const page = settings.get("page");
const view = settings.get("view");
const frame = document.createElement("iframe");
frame.setAttribute("sandbox", "allow-scripts");
frame.title = "View of an app";

const isOfProxy = (data) => String(data?.method ?? "").startsWith("ui/notifications/sandbox-");

addEventListener("message", ({ source, origin, data }) => {
  if (source === parent && origin === page) {
    // The document comes with its policy as a header, so the one of the message is not needed.
    if (data?.method === "ui/notifications/sandbox-resource-ready") frame.src = `/view/${encodeURIComponent(view)}`;
    else if (!isOfProxy(data)) frame.contentWindow.postMessage(data, "*");
  } else if (source === frame.contentWindow && !isOfProxy(data)) {
    parent.postMessage(data, page);
  }
});
document.body.append(frame);
parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/sandbox-proxy-ready", params: {} }, page);
