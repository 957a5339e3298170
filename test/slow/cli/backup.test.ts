import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { Backups } from "../../support/backups.ts";
import { runInProcess } from "../../support/cli.ts";
import { readAll } from "../../support/servers/wholeDatabase.ts";

describe("signalbox backup and restore", () => {
  const at = new Backups();

  it("writes to standard output for -", async () => {
    const piped = join(at.folder, "piped.backup");
    const script = `exec "${process.execPath}" src/cli/main.ts backup - > "${piped}"`;
    const shell = spawn("sh", ["-c", script], { env: { PATH: process.env.PATH, MONGODB_URI: at.app.mongoUri } });
    const [code] = await once(shell, "close");
    await at.restore(piped);

    expect(code).to.equal(0);
    expect(await readAll(at.target)).to.deep.equal(await readAll(at.app.mongoUri));
  });

  it("starts the embedded MongoDB where no service runs, and stops it again", async () => {
    await at.backup();
    const env = { SIGNALBOX_DATA_DIR: join(at.folder, "data") };
    const restored = await runInProcess(["restore", at.file], env);
    const again = await runInProcess(["backup", join(at.folder, "again.backup")], env);
    await at.restore(join(at.folder, "again.backup"));

    expect([restored.code, again.code]).to.deep.equal([0, 0]);
    expect(existsSync(join(at.folder, "data", "instance.json"))).to.equal(false);
    expect(await readAll(at.target)).to.deep.equal(await readAll(at.app.mongoUri));
  });
});
