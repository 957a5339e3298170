import { posix } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { BuiltFile } from "../pages/builtFiles.ts";
import { type Page, readPage, type Section } from "./markdown.ts";
import { type Hit, SearchIndex } from "./search.ts";

/** A question of the index, with the pages that answer it. */
export interface Group {
  readonly question: string;
  readonly pages: readonly { readonly path: string; readonly title: string }[];
}

/** The page with the questions of readers, from which the navigation is made. */
export const INDEX = "index.md";

/** How much a hit on a page of each folder counts: readers mostly ask how to do something. */
const BOOSTS: Readonly<Record<string, number>> = { "how-to": 1.6, tutorials: 1.4, reference: 1, explanation: 0.7 };

/** The pages of docs/. Each is read when it is first asked for. */
export class Docs {
  readonly #files: ReadonlyMap<string, BuiltFile>;
  readonly #titles: ReadonlyMap<string, string>;
  readonly #index: readonly Section[];
  #search: Promise<SearchIndex> | undefined;

  /** @param files the files of docs/ by their path */
  constructor(files: ReadonlyMap<string, BuiltFile>) {
    this.#files = files;
    this.#titles = new Map(
      [...files].filter(([path]) => path.endsWith(".md")).map(([path, file]) => [path, titleOf(file)]),
    );
    this.#index = this.read(INDEX)?.sections ?? [];
  }

  has(path: string): boolean {
    return this.#titles.has(path);
  }

  /** Returns a page, which is rendered for each request. @param path its path in docs/, such as `how-to/deploy.md` */
  read(path: string): (Page & { readonly title: string }) | undefined {
    const title = this.#titles.get(path);
    return title === undefined
      ? undefined
      : { title, ...readPage(path, String(this.#files.get(path)?.bodies.identity)) };
  }

  /** Returns the groups of the index, each page in the first that links to it. */
  groups(): Group[] {
    const known = new Set<string>();
    const isFirst = (path: string) => this.has(path) && !known.has(path) && known.add(path);
    return this.#index
      .filter(({ level }) => level === 2)
      .map(({ heading, links }) => {
        const pages = links.map(({ to }) => to).filter(isFirst);
        return { question: heading, pages: pages.map((path) => ({ path, title: this.#titles.get(path) ?? path })) };
      });
  }

  /** Returns the parts of pages that fit a query. */
  async search(query: string): Promise<Hit[]> {
    this.#search ??= this.#makeIndex();
    return (await this.#search).search(query);
  }

  /** Reads one page at a time, so that other requests are answered meanwhile. */
  async #makeIndex(): Promise<SearchIndex> {
    const index = new SearchIndex();
    const asked = this.#index.flatMap(({ links }) => links);
    for (const [path, title] of this.#titles) {
      if (path === INDEX) continue;
      for (const { heading, anchor, level, texts, code } of this.read(path)?.sections ?? []) {
        const at = level === 1 ? path : `${path}#${anchor}`;
        const questions = asked.filter(({ to }) => to === at).map(({ text }) => text);
        const boost = BOOSTS[posix.dirname(path)] ?? 1;
        index.add({ path: at.replace(".md", ""), title, heading, questions, texts, code, boost });
      }
      await setImmediate();
    }
    return index;
  }
}

const titleOf = (file: BuiltFile): string => /^# (.+)$/m.exec(String(file.bodies.identity))?.[1] ?? "";
