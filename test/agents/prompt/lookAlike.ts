import fc from "fast-check";

/*
 * Look-alikes for the tests, independent of the code under test: the characters are picked by hand, one of each kind of
 * variant of a letter.
 */

const OTHER_SCRIPTS: Readonly<Record<string, string>> = {
  a: "аΑɑᴀ",
  b: "ВЬʙ",
  c: "сϹⅽᴄ",
  d: "ԁᎠⅾᴅ",
  e: "еΕҽᴇ",
  g: "ɡԌɢ",
  h: "һНΗʜ",
  i: "іΙɪı",
  l: "ӏⅼʟ1",
  m: "МΜⅿᴍ",
  n: "ոΝɴ",
  o: "оοΟᴏ0",
  p: "рΡᴘ",
  r: "гᎡʀ",
  s: "ѕЅꜱ",
  t: "ТΤᴛ",
  u: "սυᴜ",
  x: "хΧ",
  y: "уΥʏ",
  "<": "‹〈＜❮⟨",
  ">": "›〉＞❯⟩",
  "[": "［【",
  "]": "］】",
  "|": "｜│∣ǀ",
  "/": "／∕⁄",
  ":": "：∶꞉",
  _: "＿‿_-–—",
};

/** First of 26 styled letters: mathematical bold, script, double-struck; circled, negative squared. */
const STYLES = [0x1d41a, 0x1d4d0, 0x1d552, 0x24d0, 0x1f170];

/** Invisible characters: zero width, soft hyphen, bidi controls, variation selectors, marks, tags. */
export const INVISIBLE = [
  ..."\u200b\u200c\u200d\u2060\ufeff\u00ad\u202e\u2066\u2069\ufe0f\u180e\u0301\u0338\u0336\u034f\u3164",
  "\u{e0041}",
  "\u{e007f}",
  "\u{e0100}",
];

function variants(char: string): string[] {
  const lower = char.toLowerCase();
  const found = [char, lower, char.toUpperCase(), ...(OTHER_SCRIPTS[lower] ?? "")];
  if (char > " " && char <= "~") found.push(String.fromCharCode(char.charCodeAt(0) + 0xfee0)); // full width
  if (lower >= "a" && lower <= "z") {
    found.push(...STYLES.map((first) => String.fromCodePoint(first + lower.charCodeAt(0) - 0x61)));
  }
  return found;
}

/** Generates look-alikes of a text: each character in some variant, followed by up to two invisible characters. */
export function lookAlikeOf(text: string): fc.Arbitrary<string> {
  const invisible = fc.oneof(
    { weight: 3, arbitrary: fc.constant("") },
    { weight: 1, arbitrary: fc.array(fc.constantFrom(...INVISIBLE), { maxLength: 2 }).map((all) => all.join("")) },
  );
  const chars = [...text].map((char) => fc.tuple(fc.constantFrom(...variants(char)), invisible));
  return fc.tuple(...chars).map((all) => all.flat().join(""));
}
