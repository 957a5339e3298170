import { expect } from "chai";
import { type Column, tableLines } from "../../../src/cli/terminal/table.ts";

interface Row {
  readonly id: string;
  readonly name: string | null;
  readonly message: string;
  readonly session?: string;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: "ID", of: ({ id }) => id, optional: true },
  { title: "NAME", of: ({ name }) => name, instead: ({ id }) => id, least: 4 },
  { title: "MESSAGE", of: ({ message }) => message, least: 4 },
  { title: "SESSION", of: ({ session }) => session ?? "", optional: true },
];
const row = (id: string, name: string | null, message = "done", session = ""): Row => ({ id, name, message, session });

describe("tableLines", () => {
  it("truncates the widest column, so that a long name leaves room for the messages", () => {
    const rows = [row("1", "n".repeat(500), "m".repeat(40))];

    expect(tableLines(rows, COLUMNS, { width: 60 })[1]).to.equal(`1   ${"n".repeat(26)}…  ${"m".repeat(26)}…`);
  });

  it("truncates the messages rather than the names where both are short", () => {
    const rows = [row("1", "Nightly report", "120 of 240 rows")];

    expect(tableLines(rows, COLUMNS, { width: 30 })[1]).to.equal("1   Nightly report  120 of 24…");
  });

  it("leaves out ids that do not fit, and shows the id of a row without a name in place of the name", () => {
    const rows = [row("a".repeat(36), "Nightly"), row("ci/build 7", null)];

    expect(tableLines(rows, COLUMNS, { width: 24 })).to.deep.equal([
      "NAME        MESSAGE",
      "Nightly     done",
      "ci/build 7  done",
    ]);
  });

  it("identifies rows by their ids if no row has a name and the column of ids does not fit", () => {
    const rows = [row("a".repeat(12), null), row("b".repeat(12), null)];

    expect(tableLines(rows, COLUMNS, { width: 17 })).to.deep.equal([
      "NAME         MES…",
      `${"a".repeat(10)}…  done`,
      `${"b".repeat(10)}…  done`,
    ]);
  });

  it("keeps the column of ids where another optional column makes room", () => {
    const rows = [row("one", null, "done", "s".repeat(30)), row("two", "Nightly")];

    expect(tableLines(rows, COLUMNS, { width: 30 })).to.deep.equal([
      "ID   NAME     MESSAGE",
      "one           done",
      "two  Nightly  done",
    ]);
  });
});
