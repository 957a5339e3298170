/** Schemes of addresses that are made links of. Others are shown as text: they start programs of the reader's. */
const LINKED = new Set(["http:", "https:", "mailto:"]);

/** Signs that reorder what is shown behind them (Unicode Standard Annex 9). */
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Removes the signs that would have a label, or what stands behind it, shown in another order. */
export const withoutBidi = (text: string): string => text.replace(BIDI, "");

/** Percent-encodes such signs in an address, which stays the same address. */
export const bidiEncoded = (address: string): string => address.replace(BIDI, encodeURIComponent);

/** Endings that files have and hosts do not: a label such as `package.json` names no host. */
const FILES = new Set(
  "c cc cpp css csv cxx h hpp html htm ini java jpeg jpg js json jsx kt lock log mjs cjs pdf php png rb sql svg swift toml ts tsx txt vue xml yaml yml".split(
    " ",
  ),
);

const DOTS = /[\u3002\u00b7\u2022\u2219\u22c5\u2027\u06d4\u0701\ua4f8]/g;
const SLASHES = /[\u2044\u2215\u29f8]/g;
const COLONS = /[\u02d0\u2236\ua789]/g;

/**
 * What reads as an address or a host: with a scheme any host, else one with a dot before letters, or four numbers. Each part
 * begins where the one before ends, so that it is read in linear time.
 */
const ADDRESS =
  /(?<scheme>[a-z][a-z\d+.-]{0,20}:[\\/]{1,3})?(?<authority>[\p{L}\p{N}\p{M}[\]@:%_.-]+)(?<path>[\\/?#][^\s)>\]]*)?/giu;

/** Returns whether a link may stand for its address: a scheme that is linked, and a label that reads as no other address. */
export function isHonest(label: string, href: string): boolean {
  const target = URL.parse(href.trim());
  if (!target) return false;
  return (LINKED.has(target.protocol) || target.protocol === "tg:") && !misleads(label, target);
}

function misleads(label: string, target: URL): boolean {
  const text = label
    .normalize("NFKC")
    .replace(/\p{Cf}|\p{Variation_Selector}/gu, "")
    .replace(DOTS, ".")
    .replace(SLASHES, "/")
    .replace(COLONS, ":");
  for (const { groups } of text.matchAll(ADDRESS)) {
    const { scheme, authority = "", path = "" } = groups ?? {};
    const named = hostIn(authority, scheme !== undefined);
    if (named !== null && !leadsTo(target, named, authority, path)) return true;
  }
  return false;
}

/** The host that a text names; null where it reads as none. */
function hostIn(authority: string, hasScheme: boolean): string | null {
  const place = authority.slice(authority.lastIndexOf("@") + 1);
  const name = place.startsWith("[") ? place.slice(0, place.indexOf("]") + 1) : (place.split(":", 1)[0] ?? "");
  const host = name.endsWith(".") ? name.slice(0, -1) : name;
  if (host === "") return null;
  const end = /\.([^.]+)$/.exec(host)?.[1] ?? "";
  const reads =
    hasScheme ||
    host.startsWith("[") ||
    /^\d{1,3}(?:\.\d{1,3}){3}$/.test(host) ||
    (/^(?:\p{L}{2,}|xn--.+)$/iu.test(end) && !FILES.has(end.toLowerCase()));
  return reads ? host : null;
}

function leadsTo(target: URL, host: string, authority: string, path: string): boolean {
  if (target.protocol === "mailto:") {
    return path === "" && decoded(target.pathname).toLowerCase() === authority.toLowerCase();
  }
  if (authority.includes("@")) return false;
  const named = URL.parse(`http://${host}`)?.hostname;
  const bare = (name: string) => name.replace(/^www\./, "");
  if (named === undefined || bare(named) !== bare(target.hostname)) return false;
  const way = `${target.pathname}${target.search}${target.hash}`;
  return path === "" || path === "/" || [way, decoded(way)].some((one) => one.startsWith(path.replaceAll("\\", "/")));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
