/** The address of Redis: one server, or with `cluster` some nodes of a Redis Cluster, which name the others. */
export interface RedisAddress {
  /** `redis://user:password@host:port`. A cluster may have several hosts, separated by commas. */
  readonly url: string;
  readonly cluster?: boolean;
  /** How the certificate of a `rediss://` address is verified; `ca` is a text in PEM format. */
  readonly tls?: { readonly rejectUnauthorized: boolean; readonly ca?: string };
}

export interface ClusterAddress {
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  /** The same for every node, like the password. */
  readonly username?: string;
  readonly password?: string;
  readonly tls: boolean;
}

const PARTS = /^(rediss?):\/\/(?:(.*)@)?([^@/?#]*)([/?#].*)?$/s;

/** Returns whether an address names several hosts, which only the address of a cluster may do. */
export const namesSeveralHosts = (url: string): boolean => PARTS.exec(url)?.[3]?.includes(",") ?? false;

/** Returns the fault in the address of one server, as the end of a sentence; null when it is valid. */
export function serverUrlFault(url: string): string | null {
  const address = URL.parse(url);
  if (!address?.hostname || !/^(\/\d*)?$/.test(address.pathname)) {
    return "must look like redis://user:password@host:6379/0, where 0 is the number of a database";
  }
  try {
    [address.username, address.password].map(decodeURIComponent);
    return null;
  } catch {
    return BAD_PERCENT;
  }
}

const BAD_PERCENT = "has a user or a password in which % is not followed by two hexadecimal digits";

/** Parses the address of a cluster. For an invalid one it returns the fault, as the end of a sentence. */
export function readClusterUrl(url: string): ClusterAddress | { readonly fault: string } {
  const [, scheme, credentials = "", hosts = "", rest = "/"] = PARTS.exec(url) ?? [];
  const named = hosts.split(",").map((host) => URL.parse(`redis://${credentials}@${host}`));
  const [first] = named;
  // A cluster has only database 0.
  if (!first || !["/", "/0"].includes(rest) || !named.every((node) => node?.hostname && node.pathname === "")) {
    return {
      fault: "must look like redis://user:password@a:6379,b:6379 and end there, as it leads to a Redis Cluster",
    };
  }
  try {
    const [username, password] = [first.username, first.password].map(decodeURIComponent);
    return {
      nodes: named.flatMap((node) =>
        node ? [{ host: withoutBrackets(node.hostname), port: Number(node.port) || 6379 }] : [],
      ),
      ...(username && { username }),
      ...(password && { password }),
      tls: scheme === "rediss",
    };
  } catch {
    return { fault: BAD_PERCENT };
  }
}

const withoutBrackets = (host: string) => host.replace(/^\[|\]$/g, "");
