import { signal } from "@preact/signals";
import { BASE_PATH, withoutBasePath } from "./basePath.ts";
import { PATHS, type Path } from "./paths.ts";

/*
 * The page's router. Each history entry stores the address that it was opened from and its scroll position, so that
 * going up to a list returns to the same rows with the same filters.
 */

export interface Place {
  /** The pattern that the address matches; null if there is none. */
  readonly path: Path | null;
  /** The decoded identifier in the address; empty if the pattern has none. */
  readonly id: string;
  readonly query: URLSearchParams;
  /** Path and query as in the address bar. */
  readonly href: string;
}

/** The current address. */
export const place = signal(read(location.pathname, location.search));

/** Opens an address of the page in a new history entry, or replaces the current entry. */
export function navigate(href: string, { replace = false } = {}): void {
  const before = place.value;
  if (!replace) {
    history.replaceState({ ...history.state, scroll: scrollY }, "");
    history.pushState({ from: before.href }, "", href);
  } else history.replaceState(history.state, "", href);
  const after = read(location.pathname, location.search);
  place.value = after;
  if (after.id !== before.id || (!replace && after.path !== before.path)) scrollTo(0, 0);
}

/** Goes back in the history if the previous entry is this page, which restores its state; otherwise navigates to it. */
export function goBackTo(href: string, { replace = false } = {}): void {
  const { from } = (history.state ?? {}) as { from?: string };
  const pathOf = (one: string) => new URL(one, location.origin).pathname;
  if (from !== undefined && pathOf(from) === pathOf(href)) history.back();
  else navigate(href, { replace });
}

/** Returns the current path with some query parameters changed; null removes a parameter. */
export function withQuery(query: URLSearchParams, changes: Readonly<Record<string, string | null>>): string {
  const changed = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) changed.delete(name);
    else changed.set(name, value);
  }
  const text = changed.toString();
  return location.pathname + (text && `?${text}`);
}

/** Builds the address of one of the page's paths: `address("/jobs/:jobId", "ci/7")`. */
export function address(path: Path, id = ""): string {
  return BASE_PATH + path.replace(/:\w+/, encodeURIComponent(id));
}

/** Whether the path is one of PATHS. */
export const isDashboardPath = (pathname: string): boolean => read(pathname, "").path !== null;

/**
 * Makes links within the page navigate without loading the document. Links with `data-up` go back in the history, and those with
 * `data-beside` replace the current entry, so that `data-up` still leads to where the reader came from.
 */
export function followLinks(): void {
  history.scrollRestoration = "manual";
  addEventListener("popstate", (event) => {
    place.value = read(location.pathname, location.search);
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
    if (link.dataset.up === undefined)
      navigate(href, { replace: href === place.value.href || link.dataset.beside !== undefined });
    else goBackTo(href);
  });
}

function read(pathname: string, search: string): Place {
  const query = new URLSearchParams(search);
  const href = pathname + search;
  const inner = withoutBasePath(pathname);
  for (const path of PATHS) {
    const [wanted, given] = [path.split("/"), inner.split("/")];
    if (wanted.length !== given.length) continue;
    const matches = wanted.every((part, at) => (part.startsWith(":") ? given[at] !== "" : part === given[at]));
    if (matches) return { path, id: path.includes(":") ? decode(given.at(-1) as string) : "", query, href };
  }
  return { path: null, id: "", query, href };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // Not percent-encoded UTF-8: no resource has this id.
  }
}
