/** How text is shown at a position. */
export interface Rendering {
  /** Whether an element around the text is not shown, which no element within it can undo. */
  readonly isHidden: boolean;
  readonly isInvisible: boolean;
  readonly isTiny: boolean;
  readonly isTransparent: boolean;
  readonly isPreformatted: boolean;
}

/** The properties that the attributes of one element set; a missing property is inherited. */
export type OwnStyle = Partial<Rendering>;

export const INITIAL_RENDERING: Rendering = {
  isHidden: false,
  isInvisible: false,
  isTiny: false,
  isTransparent: false,
  isPreformatted: false,
};

export function inherit(parent: Rendering, own: OwnStyle): Rendering {
  return Object.keys(own).length === 0 ? parent : { ...parent, ...own, isHidden: parent.isHidden || !!own.isHidden };
}

export const isShown = ({ isHidden, isInvisible, isTiny, isTransparent }: Rendering): boolean =>
  !(isHidden || isInvisible || isTiny || isTransparent);

/** Negative offsets from which text lies outside every window. */
const OFF_SCREEN_PX = -900;
/** Sizes below these cannot be read. */
const MIN_READABLE_PX = 2;
const MIN_READABLE_RATIO = 0.1;

/**
 * Reads a `style` attribute as far as it decides whether a reader sees the text. Style sheets and the colour of the background
 * are not considered, because they need the whole cascade: text that they hide reaches the agent, fenced like all of a mail.
 * @param isBlock whether the element has a height and a width of its own
 */
export function readStyle(text: string, isBlock: boolean): OwnStyle & { readonly beginsLine: boolean } {
  const values = readDeclarations(text);
  const display = values.get("display") ?? "";
  const hasBox = isBlock || /block|flex|grid/.test(display);
  const isZero = (name: string) => /^0*(?:\.0*)?[a-z%]*$/.test(values.get(name) || "auto");
  const isClipped = /hidden|clip/.test(`${values.get("overflow")} ${values.get("overflow-y")}`);
  const isHidden =
    display === "none" ||
    isTransparentAt(values.get("opacity") ?? "1") ||
    (hasBox && isClipped && ["height", "max-height", "width", "max-width"].some(isZero)) ||
    OFFSETS.some((name) => Number.parseFloat(values.get(name) ?? "0") <= OFF_SCREEN_PX);
  const visibility = values.get("visibility");
  const colour = values.get("color");
  const isTiny = readTiny(values);
  const whiteSpace = values.get("white-space");
  return {
    beginsLine: /^(?:block|flex|flow-root|grid|list-item|table|table-row|table-caption)$/.test(display),
    ...(isHidden && { isHidden }),
    ...(visibility && visibility !== "inherit" && { isInvisible: visibility !== "visible" }),
    ...(colour && !/^(?:inherit|currentcolor)$/.test(colour) && { isTransparent: isTransparentColour(colour) }),
    ...(isTiny !== undefined && { isTiny }),
    ...(whiteSpace && whiteSpace !== "inherit" && { isPreformatted: /pre|break-spaces/.test(whiteSpace) }),
  };
}

const OFFSETS = ["left", "top", "right", "bottom", "text-indent", "margin-left", "margin-top"];

/** Returns the values of the declarations by property, in lower case; the last one counts unless an earlier is important. */
function readDeclarations(text: string): Map<string, string> {
  const values = new Map<string, string>();
  const important = new Set<string>();
  const plain = text
    .replace(/\/\*.*?(?:\*\/|$)/gs, "")
    .replace(/\\(?:([0-9a-f]{1,6})\s?|(.))/gi, (_, code: string | undefined, character: string) =>
      code ? String.fromCodePoint(Math.min(Number.parseInt(code, 16), 0x10ffff)) : character,
    );
  for (const declaration of plain.toLowerCase().split(";")) {
    const colon = declaration.indexOf(":");
    if (colon < 0) continue;
    const name = declaration.slice(0, colon).trim();
    const [value = "", priority] = declaration.slice(colon + 1).split("!");
    const isImportant = priority?.trim() === "important";
    if (important.has(name) && !isImportant) continue;
    if (isImportant) important.add(name);
    values.set(name, value.trim());
  }
  return values;
}

/** Returns whether the text is too small to read; undefined if the size is relative to a readable one or not set. */
function readTiny(values: ReadonlyMap<string, string>): boolean | undefined {
  const inFont = /(?:^|\s)(0|[\d.]+(?:[a-z]+|%))(?=$|[\s/])/.exec(values.get("font") ?? "")?.[1];
  const size = values.get("font-size") ?? inFont;
  if (size === undefined || size === "inherit") return undefined;
  const number = Number.parseFloat(size);
  if (Number.isNaN(number)) return /^(?:smaller|larger)$/.test(size) ? undefined : false;
  if (/(?:em|ex|ch|%)$/.test(size)) {
    const ratio = size.endsWith("%") ? number / 100 : number;
    if (ratio < MIN_READABLE_RATIO) return true;
    return size.endsWith("rem") ? false : undefined;
  }
  return number < MIN_READABLE_PX;
}

const isTransparentAt = (alpha: string): boolean => Number.parseFloat(alpha) / (alpha.endsWith("%") ? 100 : 1) < 0.02;

/** Returns whether a colour is `transparent`, or one with an alpha value of about zero. */
function isTransparentColour(colour: string): boolean {
  const hex = /^#(?:[\da-f]{3}([\da-f])|[\da-f]{6}([\da-f]{2}))$/.exec(colour);
  if (hex) return Number.parseInt(hex[1] ?? hex[2]!, 16) === 0;
  const alpha = /^\w+\(\s*[^\s,/]+[\s,]+[^\s,/]+[\s,]+[^\s,/]+\s*[,/]\s*([\d.]+%?)\s*\)$/.exec(colour)?.[1];
  return colour === "transparent" || (alpha !== undefined && isTransparentAt(alpha));
}
