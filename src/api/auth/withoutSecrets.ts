import type { Context } from "koa";
import type { HookCall } from "../../hooks/mappings/mapping.ts";
import { isHarmlessHeader, isHarmlessParameter, type ReadNames } from "../../hooks/mappings/secretNames.ts";
import { MASK } from "../../shared/text/sanitizeText.ts";
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
 * Returns a head in which the values are masked whose names are not known to be harmless: senders name their secrets as they
 * like. Templates and transforms may need such a value, so only what is kept or shown is masked. A parameter without a value is
 * left out, because its name may be the secret.
 * @param read the names that mappings read, which a replay needs
 */
export function maskedHead({ headers, url, query }: RequestHead, read?: ReadNames): RequestHead {
  const [path = "", search] = url.split("?");
  const parts = (search?.split("&") ?? []).flatMap((part) => {
    const [[name = "", value = ""] = []] = new URLSearchParams(part);
    if (isHarmlessParameter(name, read)) return part;
    return value === "" ? [] : `${part.split("=", 1)[0]}=${MASK}`;
  });
  const parameters = Object.entries(query).flatMap(([name, value]): [string, unknown][] => {
    if (isHarmlessParameter(name, read)) return [[name, value]];
    return value === undefined || value === "" ? [] : [[name, MASK]];
  });
  return {
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, isHarmlessHeader(name, read) ? value : MASK]),
    ),
    url: parts.length > 0 ? `${path}?${parts.join("&")}` : path,
    query: Object.fromEntries(parameters) as RequestHead["query"],
  };
}
