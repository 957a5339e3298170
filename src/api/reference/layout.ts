import { hash } from "node:crypto";
import { Html, html } from "../../shared/text/html.ts";
import { htmlPage } from "../pages/htmlPage.ts";

const STYLE = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f6f7f9, #0e1116); --surface: light-dark(#fff, #161a21); --sunken: light-dark(#eef0f4, #10141a); --line: light-dark(#e1e5eb, #272e39);
  --text: light-dark(#14181f, #e7eaf0); --muted: light-dark(#525b6b, #a3adbd); --accent: light-dark(#2453c4, #86a9ff);
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace;
}
* { box-sizing: border-box; }
html { background: var(--ground); color: var(--text); font: 15px/1.55 system-ui, sans-serif; scroll-padding-top: 4rem; }
body { margin: 0; overflow-wrap: anywhere; }
a { color: var(--accent); }
code, pre, .method { font-family: var(--mono); font-size: .87em; }
header { position: sticky; top: 0; z-index: 1; display: flex; gap: 20px; align-items: center; min-height: 53px; padding: 0 20px; background: var(--surface); border-bottom: 1px solid var(--line); font-size: 14px; }
header a { color: var(--muted); text-decoration: none; }
header a:hover { color: var(--text); }
header .brand { display: flex; gap: 9px; align-items: center; color: var(--text); font-weight: 700; }
header nav { display: flex; flex-wrap: wrap; }
header nav a { padding: 16px 10px; border-bottom: 2px solid transparent; }
header [aria-current] { border-color: var(--accent); color: var(--text); }
.brand-tile { fill: #2453c4; } .brand-track, .brand-route { fill: none; stroke-width: 2.4; stroke-linecap: round; stroke: #9db8f5; } .brand-route { stroke: #fff; } .brand-light { fill: #5fe0a0; }
.columns { display: grid; grid-template-columns: 17rem minmax(0, 1fr); max-width: 82rem; margin: 0 auto; }
nav.contents { position: sticky; top: 53px; align-self: start; max-height: calc(100vh - 53px); overflow-y: auto; padding: 1rem 1.25rem; border-right: 1px solid var(--line); }
nav.contents ul { list-style: none; margin: 0 0 .75rem; padding: 0; }
nav.contents li a { display: block; padding: .2rem 0; text-decoration: none; }
nav.contents summary { font-weight: 650; padding: .3rem 0; cursor: pointer; }
main { padding: 1rem 2rem 4rem; min-width: 0; }
h1 { font-size: 1.7rem; margin: .5rem 0 1rem; }
h2 { font-size: 1.35rem; margin: 3rem 0 .5rem; padding-top: 1rem; border-top: 2px solid var(--line); }
h3 { font-size: 1.1rem; margin: 2.5rem 0 .4rem; }
h4 { margin: 1.4rem 0 .4rem; }
h5 { font-size: .95rem; margin: 1rem 0 .4rem; }
p { margin: .4rem 0; max-width: 46rem; }
pre { background: var(--sunken); border: 1px solid var(--line); border-radius: 6px; padding: .75rem 1rem; overflow: auto; max-height: 26rem; white-space: pre; }
.endpoint { padding: .4rem .75rem; background: var(--sunken); border-radius: 6px; max-width: none; }
.method { font-weight: 700; color: var(--accent); }
.status { font-weight: 700; font-family: var(--mono); font-size: .9em; }
.type, .limits, .access { color: var(--muted); }
.required { font-size: .85em; font-weight: 600; }
dl { margin: 0; }
dl.fields > div { padding: .45rem 0; border-top: 1px solid var(--line); }
dl.fields dl.fields { border-left: 2px solid var(--line); padding-left: 1rem; margin-top: .4rem; }
dl.errors > div { display: grid; grid-template-columns: 3.5rem 1fr; padding: .2rem 0; border-top: 1px solid var(--line); }
dd { margin: 0; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
@media (max-width: 60rem) {
  .columns { grid-template-columns: minmax(0, 1fr); }
  nav.contents { position: static; max-height: 40vh; border-right: 0; border-bottom: 1px solid var(--line); }
  main { padding: 1rem 1.25rem 4rem; }
  nav.contents li a { padding: .6rem 0; }
  header .brand span { display: none; }
}
`;

/** The policy of the pages: no scripts, and nothing from elsewhere. */
export const POLICY = `default-src 'none'; style-src 'sha256-${hash("sha256", STYLE, "base64")}'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

const CURRENT = new Html(' aria-current="page"');

/** The sign of the dashboard, whose header these pages share. */
const BRAND = new Html(
  '<svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true"><rect width="32" height="32" rx="7" class="brand-tile"/><path d="M8 11h16M8 21h16" class="brand-track"/><path d="M8 21c6 0 10-10 16-10" class="brand-route"/><circle cx="24" cy="11" r="3.2" class="brand-light"/></svg>',
);

/** The icon of the tab: without one, a browser asks for /favicon.ico. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2453c4"/><path d="M8 11h16M8 21c6 0 10-10 16-10" stroke="#fff" stroke-width="2.5" fill="none"/></svg>';

/**
 * Returns a whole page.
 * @param page `root` is the relative URL of the service: `../` for a page in a directory
 */
export const layout = (page: { title: string; root: string; navigation: Html; content: Html }): string =>
  htmlPage({
    title: page.title,
    head: html`<meta name="description" content="${page.title} of Signalbox">
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(ICON)}">`,
    style: STYLE,
    body: html`<header>
<a class="brand" href="${page.root || "./"}" aria-label="Signalbox">${BRAND}<span>Signalbox</span></a>
<nav aria-label="Main">${[
      ["Dashboard", page.root || "./", false] as const,
      ["Guide", `${page.root}guide`, false] as const,
      ["API", `${page.root}docs`, page.root === ""] as const,
      ["Errors", `${page.root}docs/errors`, page.root !== ""] as const,
    ].map(([title, href, isCurrent]) => html`<a href="${href}"${isCurrent && CURRENT}>${title}</a>`)}</nav>
</header>
<div class="columns">
<nav class="contents" aria-label="Contents" tabindex="0">${page.navigation}</nav>
<main>
${page.content}
</main>
</div>`,
  });
