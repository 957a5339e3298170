import { type Html, html } from "../../shared/text/html.ts";

/** The content of a badge, in the names of shields.io's endpoint: https://shields.io/badges/endpoint-badge */
export interface Badge {
  readonly label: string;
  readonly message: string;
  readonly color: keyof typeof COLORS;
}

/** Text on these colours has a contrast of at least 4.5. */
const COLORS = { green: "#2d7a3e", red: "#b3261e", blue: "#1d5fb4", orange: "#9a5200", grey: "#5f5f68" } as const;

/** Maximum characters of each half. */
const MAX_CHARS = 60;
/** Width of a character in pixels, about that of Verdana at 11 px. `textLength` fits the text whatever the font is. */
const CHAR_WIDTH = 6.6;
const PADDING = 6;

/** Returns the JSON of a badge for shields.io. */
export const badgeJson = (badge: Badge): string => `${JSON.stringify({ schemaVersion: 1, ...badge })}\n`;

/** Returns the image of a badge: a label and a message, 20 px high. It has no script and no style. */
export function badgeSvg({ label, message, color }: Badge): string {
  const [left, right] = [cut(label), cut(message)];
  const [leftWidth, rightWidth] = [widthOf(left), widthOf(right)];
  const width = leftWidth + rightWidth;
  const title = `${left}: ${right}`;
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" role="img" aria-label="${title}">
<title>${title}</title>
<rect width="${width}" height="20" rx="3" fill="#3f3f46"/>
<path d="M${leftWidth} 0h${rightWidth - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3H${leftWidth}z" fill="${COLORS[color]}"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
${half(left, 0, leftWidth)}
${half(right, leftWidth, rightWidth)}
</g>
</svg>
`.text;
}

const half = (text: string, x: number, width: number): Html =>
  html`<text x="${x + PADDING}" y="14" textLength="${width - 2 * PADDING}" lengthAdjust="spacingAndGlyphs">${text}</text>`;

const widthOf = (text: string): number => Math.round(Array.from(text).length * CHAR_WIDTH) + 2 * PADDING;

/** Characters that XML does not permit. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters
const NOT_XML = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;

function cut(text: string): string {
  const characters = Array.from(text.toWellFormed().replace(NOT_XML, "").replace(/\s+/g, " ").trim() || "job");
  return characters.length > MAX_CHARS ? `${characters.slice(0, MAX_CHARS - 1).join("")}…` : characters.join("");
}
