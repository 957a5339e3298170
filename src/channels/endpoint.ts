import { unescape as percentDecoded } from "node:querystring";
import { trimSlashes } from "../shared/address.ts";

/** The address of a request and the headers it needs. */
export interface Endpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Returns a function that builds the endpoint of a path below a configured address, which may have a path itself. A user
 * and a password in the address, such as those for a proxy, become an Authorization header, as fetch refuses such addresses.
 * @throws Error if the address is invalid; it names the configuration key, not the value
 */
export function createEndpoints(
  key: string,
  address: string,
): (path: string, query?: Readonly<Record<string, string>>) => Endpoint {
  const base = URL.parse(address);
  if (!base) throw new Error(`${key} is not an address.`);
  const user = `${percentDecoded(base.username)}:${percentDecoded(base.password)}`;
  const headers = user === ":" ? {} : { Authorization: `Basic ${Buffer.from(user).toString("base64")}` };
  return (path, query = {}) => {
    const url = new URL(base);
    url.username = "";
    url.password = "";
    url.pathname = trimSlashes(base.pathname) + path;
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return { url: url.href, headers };
  };
}
