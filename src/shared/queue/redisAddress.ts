/** Where Redis is: one server, or with `cluster` some nodes of a Redis Cluster, by which the others are found. */
export interface RedisAddress {
  /** `redis://user:password@host:port`, of a cluster with several hosts, commas between them. */
  readonly url: string;
  readonly cluster?: boolean;
}

export interface ClusterAddress {
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  /** Of every node, as is the password. */
  readonly username?: string;
  readonly password?: string;
  readonly tls: boolean;
}

const PARTS = /^(rediss?):\/\/(?:(.*)@)?([^@/?#]*)([/?#].*)?$/s;

/** Whether the address names several hosts, as only that of a cluster does. */
export const namesSeveralHosts = (url: string): boolean => PARTS.exec(url)?.[3]?.includes(",") ?? false;

/** What is wrong with the address of one server, as the end of a sentence. */
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

/** Reads the address of a cluster. @returns a fault as the end of a sentence where it is none */
export function readClusterUrl(url: string): ClusterAddress | { readonly fault: string } {
  const [, scheme, credentials = "", hosts = "", rest = "/"] = PARTS.exec(url) ?? [];
  const named = hosts.split(",").map((host) => URL.parse(`redis://${credentials}@${host}`));
  const [first] = named;
  // a cluster has one database, 0
  if (!first || !["/", "/0"].includes(rest) || !named.every((node) => node?.hostname && node.pathname === "")) {
    return {
      fault: "must look like redis://user:password@a:6379,b:6379 and end there, as it leads to a Redis Cluster",
    };
  }
  try {
    const [username, password] = [first.username, first.password].map(decodeURIComponent);
    return {
      nodes: named.flatMap((node) => (node ? [{ host: bare(node.hostname), port: Number(node.port) || 6379 }] : [])),
      ...(username && { username }),
      ...(password && { password }),
      tls: scheme === "rediss",
    };
  } catch {
    return { fault: BAD_PERCENT };
  }
}

const bare = (host: string) => host.replace(/^\[|\]$/g, "");
