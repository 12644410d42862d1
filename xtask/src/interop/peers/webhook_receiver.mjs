// A receiver of webhooks that verifies signatures with the package `standardwebhooks` of npm. It prints its
// port, then one line per message.
import http from "node:http";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.argv[2]);
const server = http.createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks).toString();
    let message;
    try {
      message = webhook.verify(body, request.headers);
    } catch (error) {
      console.log(`refused: ${error.message}`);
      response.writeHead(401).end();
      return;
    }
    if (message.type === "verification") {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ challenge: message.challenge }));
    } else {
      console.log(`verified: ${message.name} ${JSON.stringify(message.data)}`);
      response.end();
    }
  });
});
server.listen(0, "127.0.0.1", () => console.log(`port ${server.address().port}`));
process.stdin.on("end", () => process.exit(0)).resume();
