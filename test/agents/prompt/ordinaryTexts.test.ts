import { globSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { defuse } from "../../../src/agents/prompt/defuse.ts";

const FILE = readFileSync(new URL("ordinaryTexts.txt", import.meta.url), "utf8");

/** The lines that `defuse` breaks. They have the form of a control token, and nothing tells them from one. */
const TOUCHED = [
  "export const Row = ({ user }: Props) => <Card<※User> key={user.id} title={`#${user.id}`}>{user.name ?? <em>none</em>}</Card>;",
  "    private static final int[] SIZES = new int[※MAX_VALUE];",
  'static const char *names[SIZE] = { [※FOO] = "foo", [※BAR] = "bar" };',
  "        return $this->view('users.index', ['user' => User::find($rows[※KEY] ?? 0)?->name]);",
];

/** How much of a text is touched, in per cent. */
function touched(text: string) {
  const defused = defuse(text);
  const lines = text.split("\n");
  const changed = defused.split("\n").filter((line, i) => line !== lines[i]);
  return {
    changed,
    ofLines: (100 * changed.length) / lines.length,
    ofCharacters: (100 * (defused.length - text.length)) / text.length,
  };
}

describe("ordinary texts in prompts", () => {
  const sections = FILE.split(/^%% /m).slice(1);

  it("are of twenty kinds at least", () => {
    expect(sections).to.have.length.above(19);
  });

  it("get no sign but in the lines listed here, two lines in a hundred at most", () => {
    const { changed, ofLines, ofCharacters } = touched(sections.map((one) => one.replace(/^.*\n/, "")).join(""));

    expect(changed).to.deep.equal(TOUCHED);
    expect(ofLines).to.be.below(2);
    expect(ofCharacters).to.be.below(0.1);
  });

  it("get hardly a sign where they are this project's own documents and sources", () => {
    const text = [...globSync("docs/**/*.md"), ...globSync("src/**/*.{ts,tsx,css}"), ...globSync("*.{md,json}")]
      .map((path) => readFileSync(path, "utf8"))
      .join("\n");

    const { ofLines, ofCharacters } = touched(text);

    expect(text).to.have.length.above(500_000);
    expect(ofLines).to.be.below(0.3);
    expect(ofCharacters).to.be.below(0.02);
  });
});
