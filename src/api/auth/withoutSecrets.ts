import type { Context } from "koa";
import type { HookCall } from "../../hooks/mappings/mapping.ts";
import { isSecretName } from "../../hooks/mappings/when.ts";
import { withoutBasePath } from "../middleware/basePath.ts";

/** The head of a request: everything but its body. */
export type RequestHead = Pick<HookCall, "headers" | "url" | "query">;

const SECRET_HEADERS: readonly string[] = ["authorization", "proxy-authorization", "x-service-token", "cookie"];

/** Returns the parts of a request that transforms, templates and records may see: everything but its secrets. */
export function withoutSecrets({ headers, query, originalUrl, state }: Context): RequestHead {
  const [target = "", ...search] = originalUrl.split("?");
  const path = withoutBasePath(target, state.basePath) ?? target;
  const publicSearch = search
    .join("?")
    .split("&")
    .filter((part) => part !== "" && !new URLSearchParams(part).has("token"));
  const { token: _, ...publicQuery } = query;
  const secretHeaders: readonly string[] = [...SECRET_HEADERS, ...(state.secretHeaders ?? [])];
  return {
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !secretHeaders.includes(name))),
    url: publicSearch.length > 0 ? `${path}?${publicSearch.join("&")}` : path,
    query: publicQuery,
  };
}

/**
 * Returns a head without everything that may be a secret by its name. Templates and transforms may need such a value, so only
 * what is kept goes without it.
 */
export function withoutNamedSecrets({ headers, url, query }: RequestHead): RequestHead {
  const isPublic = ([name]: readonly [string, unknown]) => !isSecretName(name);
  const [path = "", search] = url.split("?");
  const parts = search?.split("&").filter((part) => [...new URLSearchParams(part)].every(isPublic)) ?? [];
  return {
    headers: Object.fromEntries(Object.entries(headers).filter(isPublic)),
    url: parts.length > 0 ? `${path}?${parts.join("&")}` : path,
    query: Object.fromEntries(Object.entries(query).filter(isPublic)),
  };
}
