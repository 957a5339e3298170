/** The path that the service is served below (`server.basePath`), as its document states; empty at the root of a host. */
export const BASE_PATH = (document.querySelector('meta[name="base-path"]')?.getAttribute("content") ?? "").replace(
  /\/$/,
  "",
);

/** Returns the path that the page's router knows; empty for paths that do not belong to this service. */
export function withoutBasePath(pathname: string): string {
  if (pathname === BASE_PATH) return "/";
  return pathname.startsWith(`${BASE_PATH}/`) ? pathname.slice(BASE_PATH.length) : "";
}
