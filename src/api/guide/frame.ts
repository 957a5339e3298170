import { Html, html } from "../../shared/text/html.ts";
import type { Group } from "./docs.ts";
import type { Section } from "./markdown.ts";
import type { Hit } from "./search.ts";

/** The parts of a page that its frame surrounds. */
export interface Parts {
  readonly title: string;
  readonly content: Html;
  readonly sections?: readonly Section[];
  /** Its path in docs/, such as `how-to/deploy.md`. */
  readonly path?: string;
  readonly query?: string;
}

/**
 * Returns a function that renders whole pages.
 * @param template the built frame, which has `{{…}}` at the places of the parts
 * @param home the address of the guide, with a slash at its end
 */
export function createFrame(template: string, home: string, groups: readonly Group[]): (parts: Parts) => string {
  return ({ title, content, sections = [], path, query = "" }) => {
    const headings = outline(sections);
    const values: Readonly<Record<string, Html>> = {
      title: html`${title}`,
      query: html`${query}`,
      navigation: navigation(groups, home, path),
      content: html`${headings?.above}${content}${neighbours(groups, home, path)}`,
      outline: html`${headings?.beside}`,
    };
    return template.replace(/\{\{(\w+)\}\}/g, (_, name) => values[name]?.text ?? "");
  };
}

const address = (home: string, path: string): string => home + path.replace(".md", "");

const navigation = (groups: readonly Group[], home: string, current?: string): Html =>
  html`<a href="${home}"${current === "index.md" && CURRENT}>All questions</a>
${groups.map(
  ({
    question,
    pages,
  }) => html`<details${pages.some(({ path }) => path === current) && OPEN}><summary>${question}</summary>
<ul>${pages.map(
    ({ path, title }) => html`<li><a href="${address(home, path)}"${path === current && CURRENT}>${title}</a></li>
`,
  )}</ul></details>
`,
)}`;

const CURRENT = new Html(' aria-current="page"');
const OPEN = new Html(" open");

/** Returns the headings of a page, which are beside it on a wide screen, and above it and folded on a narrow one. */
function outline(sections: readonly Section[]): { beside: Html; above: Html } | undefined {
  const headings = sections.filter(({ level }) => level === 2 || level === 3);
  if (headings.length < 2) return undefined;
  const list = html`<ul>${headings.map(
    ({ level, anchor, heading }) => html`<li class="level-${level}"><a href="#${anchor}">${heading}</a></li>
`,
  )}</ul>`;
  return {
    beside: html`<nav class="outline" aria-label="On this page"><b>On this page</b>${list}</nav>`,
    above: html`<details class="outline box"><summary>On this page</summary>${list}</details>`,
  };
}

/** Returns links to the pages before and after a page. */
function neighbours(groups: readonly Group[], home: string, current?: string): Html {
  const pages = groups.flatMap((group) => group.pages);
  const at = pages.findIndex(({ path }) => path === current);
  const link = (label: string, page: (typeof pages)[number] | undefined) =>
    page && html`<a href="${address(home, page.path)}"><small class="muted">${label}</small> ${page.title}</a>`;
  if (at < 0) return html``;
  return html`<nav class="neighbours" aria-label="Neighbours">${link("Before", pages[at - 1])}${link("Next", pages[at + 1])}</nav>`;
}

/** Returns the content of the page of a search, of which the script shows the results while a query is typed. */
export function results(query: string, hits: readonly Hit[], home: string): Html {
  const index = html`<p><a href="${home}">See all questions that the guide answers</a></p>`;
  const answer =
    query === ""
      ? index
      : hits.length === 0
        ? html`<p role="status">Nothing in the guide fits “${query}”.</p>${index}`
        : html`<ol>${hits.map(
            (hit) => html`<li>${result(hit, home)}</li>
`,
          )}</ol>`;
  return html`<h1>Search</h1>
<div class="hits">${answer}</div>`;
}

const result = ({ path, title, heading, excerpt }: Hit, home: string): Html =>
  html`<a href="${home}${path}"><b>${title}${heading !== title && ` › ${heading}`}</b><span class="muted">${excerpt}</span></a>`;
