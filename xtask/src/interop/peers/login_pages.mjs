// The pages of a login without a browser: follows redirects and sends forms. Returns the parameters of the
// redirect to the client.
export async function logIn(page, redirectUrl) {
    const cookies = new Map();
    let url = new URL(page), form;
    for (let pages = 0; pages < 30; pages++) {
        if (url.href.startsWith(redirectUrl)) return url.searchParams;
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
        const response = await fetch(url, {
            method: form ? "POST" : "GET", body: form, redirect: "manual", headers: { cookie },
        });
        form = undefined;
        for (const header of response.headers.getSetCookie()) {
            const [name, value] = header.split(";")[0].split(/=(.*)/s);
            value ? cookies.set(name, value) : cookies.delete(name);
        }
        const location = response.headers.get("location");
        const html = await response.text();
        if (location) {
            url = new URL(location, url);
            continue;
        }
        if (!response.ok) throw new Error(`${url} answers ${response.status}: ${html}`);
        const found = html.match(/<form[^>]* action="([^"]*)"[^>]*>(.*?)<\/form>/s);
        if (!found) throw new Error(`${url} has no form: ${html}`);
        url = new URL(found[1].replaceAll("&amp;", "&"), url);
        const inputs = [...found[2].matchAll(/<input[^>]*>/g)].map(([tag]) => tag);
        form = new URLSearchParams(inputs.filter((tag) => / name="/.test(tag)).map((tag) => [
            tag.match(/ name="([^"]*)"/)[1], tag.match(/ value="([^"]*)"/)?.[1] ?? "ada",
        ]));
    }
    throw new Error("the login has too many pages");
}
