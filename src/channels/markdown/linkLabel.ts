/** Schemes of addresses that become links. Others are shown as text, since they start programs on the reader's device. */
const LINKED_SCHEMES = new Set(["http:", "https:", "mailto:"]);

/** Control characters that reorder the text after them (Unicode Standard Annex 9). */
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Removes bidirectional controls, which would reorder a label or the text after it. */
export const withoutBidi = (text: string): string => text.replace(BIDI, "");

/** Percent-encodes bidirectional controls in an address, which keeps its meaning. */
export const bidiEncoded = (address: string): string => address.replace(BIDI, encodeURIComponent);

/** File extensions that are not top-level domains in use: a label such as `package.json` names no host. */
const FILE_EXTENSIONS = new Set(
  "c cc cpp css csv cxx h hpp html htm ini java jpeg jpg js json jsx kt lock log mjs cjs pdf php png rb sql svg swift toml ts tsx txt vue xml yaml yml".split(
    " ",
  ),
);

/** Signs that look like a dot, and dots in brackets, with which reports write addresses that are no links: `bank[.]example`. */
const DOTS =
  /[\u3002\u00b7\u2022\u2219\u22c5\u2027\u0589\u05c3\u0660\u06d4\u06f0\u0701\u0702\u2e31\u2e33\ua4f8\ua60e\ua78f]|[[({](?:\.|dot)[\])}]/gi;
const SLASHES = /[\u2044\u2215\u29f8]/g;
const COLONS = /[\u02d0\u2236\ua789]/g;

/**
 * Matches candidates for addresses and hosts; `hostIn` decides whether a candidate is one. No two parts of the pattern can
 * match the same text, so that matching takes linear time.
 */
const ADDRESS =
  /(?<scheme>[a-z][a-z\d+.-]{0,20}:[\\/]{1,3})?(?<authority>[\p{L}\p{N}\p{M}[\]@:%_.-]+)(?<path>[\\/?#][^\s)>\]]*)?/giu;

/** Maximum characters before and after a label that are read with it: the rest of its word and a bracket after it. */
const MAX_AROUND = 300;

/** Matches a character that ends a word. */
const WORD_END = /[\s,;"'<>()[\]{}|]/;
/** Matches the rest of the label's word and a bracket after it, which looks like the place of an address. */
const WORD_AFTER = /^[^\s,;"'<>()[\]{}|]*(?:\s*[([{<][^)\]}>]*)?/;

/**
 * Returns whether a link may hide its address: its scheme is linked, and its label, together with the adjacent text, names no
 * other address. A label in too long a word may not.
 *
 * @param text the text that the reader sees if all addresses are hidden; the label is `text.slice(start, end)`
 */
export function mayHideAddress(text: string, start: number, end: number, href: string): boolean {
  const target = URL.parse(href.trim());
  if (!target || !(LINKED_SCHEMES.has(target.protocol) || target.protocol === "tg:")) return false;
  const before =
    foldLookalikes(text.slice(Math.max(0, start - MAX_AROUND), start))
      .split(WORD_END)
      .at(-1) ?? "";
  const after = WORD_AFTER.exec(foldLookalikes(text.slice(end, end + MAX_AROUND)))?.[0] ?? "";
  if (before.length >= MAX_AROUND || after.length >= MAX_AROUND) return false;
  return !namesOtherAddress(`${before}${foldLookalikes(text.slice(start, end))}${after}`, target);
}

/** Replaces look-alike characters by the ones they imitate, and removes invisible characters. */
const foldLookalikes = (text: string): string =>
  text
    .normalize("NFKC")
    .replace(/\p{Cf}|\p{Variation_Selector}/gu, "")
    .replace(DOTS, ".")
    .replace(SLASHES, "/")
    .replace(COLONS, ":");

function namesOtherAddress(text: string, target: URL): boolean {
  for (const { groups } of text.matchAll(ADDRESS)) {
    const { scheme, authority = "", path = "" } = groups ?? {};
    const named = hostIn(authority, scheme !== undefined);
    if (named !== null && !matchesTarget(target, named, authority, path)) return true;
  }
  return false;
}

/** Returns the host that a text names; null if it does not look like one. */
function hostIn(authority: string, hasScheme: boolean): string | null {
  const place = authority.slice(authority.lastIndexOf("@") + 1);
  const name = place.startsWith("[") ? place.slice(0, place.indexOf("]") + 1) : (place.split(":", 1)[0] ?? "");
  const host = name.endsWith(".") ? name.slice(0, -1) : name;
  if (host === "") return null;
  const end = /\.([^.]+)$/.exec(host)?.[1] ?? "";
  const isHost =
    hasScheme ||
    host.startsWith("[") ||
    isLocal(place, host) ||
    /^\d{1,3}(?:\.\d{1,3}){3}$/.test(host) ||
    (/^(?:\p{L}{2,}|xn--.+)$/iu.test(end) && !FILE_EXTENSIONS.has(end.toLowerCase()));
  return isHost ? host : null;
}

/** Returns whether a name without a dot is a host: `localhost`, and one with a port that is no line of a file. */
const isLocal = (place: string, host: string): boolean =>
  /^localhost$/i.test(host) || /^[a-z][a-z\d-]*:\d{4,5}$/i.test(place);

function matchesTarget(target: URL, host: string, authority: string, path: string): boolean {
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
