// The user of a client: the program `BROWSER` shows the login, and a page of this client is its end.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";

const LIMIT = 60_000;

// Returns the address to which logins return, and a function that logs in and returns the parameters of the
// redirect.
export async function openBrowser() {
    let finish;
    const server = createServer((request, response) => {
        const url = new URL(request.url, "http://127.0.0.1");
        response.writeHead(200, { "content-type": "text/html", connection: "close" }).end("<p>Done</p>");
        if (url.pathname === "/callback") finish?.(url.searchParams);
    });
    server.unref();
    await once(server.listen(0, "127.0.0.1"), "listening");
    return {
        redirectUrl: `http://127.0.0.1:${server.address().port}/callback`,
        logIn: (page) => new Promise((resolve, reject) => {
            const late = setTimeout(() => reject(new Error("the browser does not return")), LIMIT);
            finish = (parameters) => {
                clearTimeout(late);
                resolve(parameters);
            };
            spawn(process.env.BROWSER, [String(page)], { stdio: "ignore" }).on("error", reject);
        }),
    };
}
