import { hash } from "node:crypto";
import { Html, html } from "../../shared/text/html.ts";

const STYLE = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#fff, #0e1116); --sunken: light-dark(#f3f4f7, #171b23); --line: light-dark(#d9dee6, #2b323e);
  --text: light-dark(#14181f, #e7eaf0); --muted: light-dark(#525b6b, #a3adbd); --accent: light-dark(#2453c4, #86a9ff);
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace;
}
* { box-sizing: border-box; }
html { background: var(--ground); color: var(--text); font: 15px/1.55 system-ui, sans-serif; scroll-padding-top: 4rem; }
body { margin: 0; overflow-wrap: anywhere; }
a { color: var(--accent); }
code, pre, .method { font-family: var(--mono); font-size: .87em; }
header { position: sticky; top: 0; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: .6rem 1.25rem; background: var(--ground); border-bottom: 1px solid var(--line); }
header a { display: inline-block; padding: .25rem 0; }
header a:first-child { font-weight: 650; color: inherit; text-decoration: none; }
.columns { display: grid; grid-template-columns: 17rem minmax(0, 1fr); max-width: 82rem; margin: 0 auto; }
nav.contents { position: sticky; top: 3rem; align-self: start; max-height: calc(100vh - 3rem); overflow-y: auto; padding: 1rem 1.25rem; border-right: 1px solid var(--line); }
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
  nav.contents li a, header a { padding: .6rem 0; }
}
`;

/** The policy of the pages: no scripts, and nothing from elsewhere. */
export const POLICY = `default-src 'none'; style-src 'sha256-${hash("sha256", STYLE, "base64")}'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

/**
 * Returns a whole page.
 * @param page `root` is the relative URL of the service: `../` for a page in a directory
 */
export const layout = (page: { title: string; root: string; navigation: Html; content: Html }): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${page.title} of Signalbox">
<title>${page.title} · Signalbox</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<header><a href="${page.root || "./"}">Signalbox</a> <a href="${page.root}docs">API reference</a> <a href="${page.root}docs/errors">Errors</a> <a href="${page.root}guide">Guide</a></header>
<div class="columns">
<nav class="contents" aria-label="Contents" tabindex="0">${page.navigation}</nav>
<main>
${page.content}
</main>
</div>
</body>
</html>
`.text;
