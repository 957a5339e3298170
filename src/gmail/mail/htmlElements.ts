/** Returns the names in a list that is separated by white space. */
const names = (list: string): ReadonlySet<string> => new Set(list.trim().split(/\s+/));

/** Elements that begin and end a line, by the default style sheet of the HTML standard (15.3), with buttons and `br`. */
const LINES = names(`
  address article aside body br button caption center dd details dialog dir div dl dt fieldset figcaption figure footer form
  h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav ol optgroup option p plaintext pre search section
  summary table tbody textarea tfoot thead tr ul xmp blockquote`);

/** Elements of `LINES` that have a margin, shown as a blank line. */
const WITH_MARGIN = names("blockquote dl dir figure h1 h2 h3 h4 h5 h6 hr listing menu ol p plaintext pre table ul xmp");

/** Lists, which have no margin within another list. */
export const LISTS = names("dir dl menu ol ul");

const PREFORMATTED = names("listing plaintext pre textarea xmp");

const HIDDEN = names(
  "area base basefont datalist head iframe link meta noembed noframes param rp script style template title",
);

/** Elements whose whole content the tokenizer returns as one text up to the closing tag. */
const RAW_TEXT = names("iframe noembed noframes script style title");

const VOID = names(
  "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr html head",
);

/** Elements that a browser opens again after the element around them has ended (the adoption agency algorithm). */
const FORMATTING = names("a b big code em font i nobr s small strike strong tt u");

const CELLS = names("caption td th");
const TABLE_PARTS = names("caption table tbody td tfoot th thead tr");

/** Elements within which an end tag does not see the elements around them. */
const SCOPES = names("applet button caption html marquee object table td template th");

const ENDS_PARAGRAPH = names(`
  address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4
  h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul xmp`);

/** Elements that a start tag closes: those of `closes`, up to an element of `within`. */
interface ImpliedEnd {
  readonly closes: readonly string[];
  readonly within: ReadonlySet<string>;
}

const impliedEnd = (tags: string, closes: string, within: string): [string, ImpliedEnd[]][] =>
  [...names(tags)].map((tag) => [tag, [{ closes: [...names(closes)], within: names(within) }]]);

const IMPLIED_ENDS: ReadonlyMap<string, readonly ImpliedEnd[]> = new Map([
  ...impliedEnd("li", "li", "dir menu ol ul table td th caption button template"),
  ...impliedEnd("dd dt", "dd dt", "dl table td th caption button template"),
  ...impliedEnd("option", "option", "optgroup select datalist"),
  ...impliedEnd("optgroup", "option optgroup", "select datalist"),
  ...impliedEnd("rp rt", "rp rt", "ruby"),
  ...impliedEnd("td th", "td th caption", "table template"),
  ...impliedEnd("tr", "tr caption", "table template"),
  ...impliedEnd("tbody tfoot thead", "caption tbody tfoot thead tr", "table template"),
]);

const PARAGRAPH_END: ImpliedEnd = { closes: ["p"], within: SCOPES };

export const beginsLine = (name: string): boolean => LINES.has(name);
export const hasMargin = (name: string): boolean => WITH_MARGIN.has(name);
export const isVoid = (name: string): boolean => VOID.has(name);
export const isRawText = (name: string): boolean => RAW_TEXT.has(name);
export const isPreformatted = (name: string): boolean => PREFORMATTED.has(name);
export const isHiddenElement = (name: string): boolean => HIDDEN.has(name);
export const isFormatting = (name: string): boolean => FORMATTING.has(name);
export const isTablePart = (name: string): boolean => TABLE_PARTS.has(name);
/** Returns whether formatting that begins in the element ends with it. */
export const confinesFormatting = (name: string): boolean => CELLS.has(name) || SCOPES.has(name) || isTablePart(name);

/** Returns what a start tag closes before it opens its element. */
export function impliedEndsOf(name: string): readonly ImpliedEnd[] {
  const own = IMPLIED_ENDS.get(name) ?? [];
  return ENDS_PARAGRAPH.has(name) ? [PARAGRAPH_END, ...own] : own;
}

/** Returns whether an end tag cannot close an element outside this one. */
export function stopsEndTag(element: string, endTag: string): boolean {
  if (isTablePart(endTag)) return element === "table";
  if (endTag !== "p" && element === "button") return false;
  return SCOPES.has(element) || (!isFormatting(endTag) && !beginsLine(endTag) && beginsLine(element));
}
