// A user with a real browser: opens a page in headless Chromium, fills in and sends each form, and ends at the
// first page without one. `browser.mjs CHROMIUM URL` fails when a page does not load.
import { chromium } from "playwright-core";

const MAX_FORMS = 10;
const LIMIT = 30_000;

const [executablePath, url] = process.argv.slice(2);
// Chromium refuses to run as root with its sandbox. The pages are those of the test.
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"], timeout: LIMIT });
try {
    const page = await browser.newPage();
    page.setDefaultTimeout(LIMIT);
    report(await page.goto(url));
    for (let forms = 0; forms < MAX_FORMS && await page.locator("form").count() > 0; forms++) {
        const form = page.locator("form").first();
        for (const field of await form.locator("input:visible:not([type=submit]):not([type=button])").all()) {
            if (await field.inputValue() === "") await field.fill("ada");
        }
        const [response] = await Promise.all([
            page.waitForNavigation(),
            form.locator("button, input[type=submit]").first().click(),
        ]);
        report(response);
    }
} finally {
    await browser.close();
}

// Prints a page without its query, which has secrets.
function report(response) {
    const { origin, pathname } = new URL(response.url());
    console.log(`${response.status()} ${origin}${pathname}`);
    if (!response.ok()) process.exitCode = 1;
}
