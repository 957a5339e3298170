import { expect } from "chai";
import { useApp } from "../../support/useApp.ts";

const HOOK_TOKEN = "a-hook-token-of-length";

describe("the search for runs", () => {
  const app = useApp({ config: JSON.stringify({ hooks: { enabled: true, token: HOOK_TOKEN } }) });

  const send = async (name: string): Promise<string> => {
    const bearer = { Authorization: `Bearer ${HOOK_TOKEN}` };
    return (await app.call("POST", "/hooks/agent", { message: "m", name }, bearer)).body.runId;
  };
  const search = async (text: string): Promise<string[]> => {
    const { body } = await app.call("GET", `/api/runs?${new URLSearchParams({ search: text })}`);
    return body.runs.map(({ runId }: { runId: string }) => runId).sort();
  };

  it("finds words anywhere in a name, and the beginning of an id", async () => {
    const [report, backup] = [await send("Nightly Straßen-report, ÉTÉ"), await send("Backup of reports")];

    expect(await search("REPORT")).to.deep.equal([report, backup].sort());
    expect(await search("rep night")).to.deep.equal([report]);
    expect(await search("strasse été")).to.deep.equal([report]);
    expect(await search("eport")).to.deep.equal([]);
    expect(await search("report absent")).to.deep.equal([]);
    expect(await search("…")).to.deep.equal([]);
    expect(await search(backup)).to.deep.equal([backup]);
    expect(await search(backup.slice(0, 13))).to.include(backup);
  });
});
