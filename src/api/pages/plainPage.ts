import { hash } from "node:crypto";
import { type Html, html } from "../../shared/text/html.ts";
import { htmlPage } from "./htmlPage.ts";

const STYLE = `
html { background: var(--back); color: var(--text); }
:root { color-scheme: light dark; --back: #fff; --text: #18181b; --line: #71717a; --soft: #52525b; --main: #1d4ed8; --on-main: #fff; --bad: #b91c1c; }
@media (prefers-color-scheme: dark) {
  :root { --back: #16161a; --text: #ededf0; --line: #8b8b94; --soft: #b4b4bd; --main: #93b4ff; --on-main: #0b1020; --bad: #ff9b9b; }
}
* { box-sizing: border-box; }
body { margin: 0; font: 1.05rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
main { max-width: 36rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .75rem; }
.text { white-space: pre-wrap; }
.muted { color: var(--soft); font-size: .9rem; }
small { display: block; font-size: .9rem; }
.fault { color: var(--bad); }
.field, fieldset { margin: 0 0 1.1rem; padding: 0; border: 0; min-width: 0; }
label, legend { font-weight: 600; padding: 0; }
.choice, .choice label { font-weight: 400; display: flex; gap: .6rem; align-items: center; min-height: 2.5rem; }
input:not([type=checkbox]), select, textarea {
  display: block; width: 100%; font: inherit; padding: .6rem; margin-top: .25rem;
  border: 1px solid var(--line); border-radius: .4rem; background: var(--back); color: var(--text);
}
input[type=checkbox] { width: 1.4rem; height: 1.4rem; flex: none; }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem; }
button { font: inherit; font-weight: 600; min-height: 3rem; padding: 0 1.25rem; border: 1px solid var(--line); border-radius: .4rem; background: transparent; color: var(--text); flex: 1 1 auto; }
button[value=accept] { background: var(--main); border-color: var(--main); color: var(--on-main); }
:focus-visible { outline: 3px solid var(--main); outline-offset: 2px; }
dt { font-weight: 600; }
dd { margin: 0 0 .75rem; white-space: pre-wrap; }
h2 { font-size: 1.1rem; margin: 1.5rem 0 .5rem; }
progress { display: block; width: 100%; height: 1rem; accent-color: var(--main); }
ol { padding-left: 1.5rem; }
pre { white-space: pre-wrap; border: 1px solid var(--line); border-radius: .4rem; padding: .75rem; font-size: .85rem; }
`;

/**
 * Returns the policy of the pages: no script, nothing from elsewhere, and forms that are sent to this service only.
 * @param frameAncestors the sites that may show the page in a frame
 */
export const policy = (frameAncestors: readonly string[] = []): string =>
  [
    "default-src 'none'",
    `style-src 'sha256-${hash("sha256", STYLE, "base64")}'`,
    "form-action 'self'",
    `frame-ancestors ${frameAncestors.length > 0 ? frameAncestors.join(" ") : "'none'"}`,
    "base-uri 'none'",
  ].join("; ");

/**
 * Returns a whole page, which needs no script and no log-in.
 * @param refresh after how many seconds a browser loads it again, with `; url=` another page; never by default
 */
export const page = (title: string, content: Html, refresh?: number | string): string =>
  htmlPage({
    title,
    head: html`<meta name="robots" content="noindex, nofollow">
${refresh !== undefined && html`<meta http-equiv="refresh" content="${refresh}">`}`,
    style: STYLE,
    body: html`<main>
${content}
</main>`,
  });

/** Returns a page that says why a link cannot be used. */
export const closedPage = (title: string, text: string, refreshSeconds?: number): string =>
  page(title, html`<h1>${title}</h1><p>${text}</p>`, refreshSeconds);

/** Returns a time as people read it, in UTC to the minute. */
export const when = (time: Date): Html =>
  html`<time datetime="${time.toISOString()}">${time.toISOString().slice(0, 16).replace("T", " ")} UTC</time>`;
