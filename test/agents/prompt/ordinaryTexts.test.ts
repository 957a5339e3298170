import { globSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { neutralize } from "../../../src/agents/prompt/neutralize.ts";

const FILE = readFileSync(new URL("ordinaryTexts.txt", import.meta.url), "utf8");

/** The lines that `neutralize` breaks up: they cannot be distinguished from a control token by their form. */
const CHANGED = [
  "export const Row = ({ user }: Props) => <Card<※User> key={user.id} title={`#${user.id}`}>{user.name ?? <em>none</em>}</Card>;",
  "    private static final int[] SIZES = new int[※MAX_VALUE];",
  'static const char *names[SIZE] = { [※FOO] = "foo", [※BAR] = "bar" };',
  "        return $this->view('users.index', ['user' => User::find($rows[※KEY] ?? 0)?->name]);",
];

/** Returns the lines that `neutralize` changes, and the shares of changed lines and of added characters in percent. */
function measureChanges(text: string) {
  const neutralized = neutralize(text);
  const lines = text.split("\n");
  const changed = neutralized.split("\n").filter((line, i) => line !== lines[i]);
  return {
    changed,
    linePercent: (100 * changed.length) / lines.length,
    characterPercent: (100 * (neutralized.length - text.length)) / text.length,
  };
}

describe("Ordinary texts in prompts", () => {
  const sections = FILE.split(/^%% /m).slice(1);

  it("are of at least twenty kinds", () => {
    expect(sections).to.have.length.above(19);
  });

  it("get signs only in the listed lines, at most two in a hundred", () => {
    const { changed, linePercent, characterPercent } = measureChanges(
      sections.map((one) => one.replace(/^.*\n/, "")).join(""),
    );

    expect(changed).to.deep.equal(CHANGED);
    expect(linePercent).to.be.below(2);
    expect(characterPercent).to.be.below(0.1);
  });

  it("get signs in at most 0.3 percent of the lines of this project's documents and sources", () => {
    const text = [...globSync("docs/**/*.md"), ...globSync("src/**/*.{ts,tsx,css}"), ...globSync("*.{md,json}")]
      .map((path) => readFileSync(path, "utf8"))
      .join("\n");

    const { linePercent, characterPercent } = measureChanges(text);

    expect(text).to.have.length.above(500_000);
    expect(linePercent).to.be.below(0.3);
    expect(characterPercent).to.be.below(0.02);
  });
});
