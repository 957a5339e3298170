import { unescape as percentDecoded } from "node:querystring";
import { trimSlashes } from "../shared/address.ts";

/** Where to ask, and with which headers. */
export interface Place {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The paths of a service at an address of the configuration, which may have a path of its own. fetch takes no address with a
 * user and a password in it, such as that of a proxy that asks for them: they go as a header.
 * @throws Error for what is no address; it names the key and not its value
 */
export function serviceAt(
  key: string,
  address: string,
): (path: string, query?: Readonly<Record<string, string>>) => Place {
  const base = URL.parse(address);
  if (!base) throw new Error(`${key} is no address.`);
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
