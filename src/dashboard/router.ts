import { Store } from "./data/store.ts";
import { PATHS, type Path } from "./paths.ts";

export interface Place {
  /** The pattern that the address fits; null where it fits none. */
  readonly path: Path | null;
  /** The identifier in the address, decoded; empty where the pattern has none. */
  readonly id: string;
  readonly query: URLSearchParams;
  /** Path and query as they stand in the address bar. */
  readonly href: string;
}

/** Where the reader is. */
export const place = new Store(read(location.pathname, location.search));

/** Goes to an address of the page, or takes it in place of the present one. */
export function navigate(href: string, { replace = false } = {}): void {
  const before = place.value;
  if (!replace) {
    history.replaceState({ ...history.state, scroll: scrollY }, "");
    history.pushState({ from: before.href }, "", href);
  } else history.replaceState(history.state, "", href);
  const after = read(location.pathname, location.search);
  place.set(after);
  if (!replace && after.path !== before.path) scrollTo(0, 0);
}

/** Goes back to a page where the reader has come from it, to how it was then; else as `navigate` does. */
export function goBackTo(href: string, { replace = false } = {}): void {
  const { from } = (history.state ?? {}) as { from?: string };
  const pathOf = (one: string) => new URL(one, location.origin).pathname;
  if (from !== undefined && pathOf(from) === pathOf(href)) history.back();
  else navigate(href, { replace });
}

/** The same page with some parameters of its query changed; null takes one away. */
export function withQuery(query: URLSearchParams, changes: Readonly<Record<string, string | null>>): string {
  const changed = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) changed.delete(name);
    else changed.set(name, value);
  }
  const text = changed.toString();
  return location.pathname + (text && `?${text}`);
}

/** The address of one thing: `address("/jobs/:jobId", "ci/7")`. */
export function address(path: Path, id = ""): string {
  return path.replace(/:\w+/, encodeURIComponent(id));
}

/** Whether the page itself has something at this path. */
export const isDashboardPath = (pathname: string): boolean => read(pathname, "").path !== null;

/** Lets links within the page change the place instead of loading the document again; those with `data-up` lead back. */
export function followLinks(): void {
  history.scrollRestoration = "manual";
  addEventListener("popstate", (event) => {
    place.set(read(location.pathname, location.search));
    const scroll: number = event.state?.scroll ?? 0;
    requestAnimationFrame(() => requestAnimationFrame(() => scrollTo(0, scroll)));
  });
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = (event.target as Element).closest?.("a[href]") as HTMLAnchorElement | null;
    if (!link || link.origin !== location.origin || link.target || link.hasAttribute("download")) return;
    if (link.hash || !isDashboardPath(link.pathname)) return;
    event.preventDefault();
    const href = link.pathname + link.search;
    if (link.dataset.up === undefined) navigate(href, { replace: href === place.value.href });
    else goBackTo(href);
  });
}

function read(pathname: string, search: string): Place {
  const query = new URLSearchParams(search);
  const href = pathname + search;
  for (const path of PATHS) {
    const [wanted, given] = [path.split("/"), pathname.split("/")];
    if (wanted.length !== given.length) continue;
    const fits = wanted.every((part, at) => (part.startsWith(":") ? given[at] !== "" : part === given[at]));
    if (fits) return { path, id: path.includes(":") ? decode(given.at(-1) as string) : "", query, href };
  }
  return { path: null, id: "", query, href };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // not percent-encoded UTF-8: nothing has that name
  }
}
