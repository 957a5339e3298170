import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { parseAllDocuments } from "yaml";

/**
 * Validates the manifests by the schemas of Kubernetes. Part of `npm run test:nightly`: the schemas are 108 MB, so that a clone
 * does not have them. The gate checks what the manifests name, in test/package/hosts.test.ts.
 */
const VALIDATOR = "kubernetes-validate==1.37.0";
const MANIFESTS = ["examples/hosts/kubernetes.yaml", "examples/kubernetes/job.yaml"];

describe("the manifests for Kubernetes", function () {
  this.timeout(300_000);

  it("follow its schemas, without fields that it does not know", () => {
    const packages = mkdtempSync(join(tmpdir(), "signalbox-kubernetes-"));
    const env = { ...process.env, PYTHONPATH: packages };
    const installed = spawnSync("python3", ["-m", "pip", "install", "--quiet", "--target", packages, VALIDATOR]);
    const validator = join(packages, "bin", "kubernetes-validate");
    const { status, stdout, stderr } = spawnSync(validator, ["--strict", ...MANIFESTS], { env, encoding: "utf8" });
    rmSync(packages, { recursive: true });

    expect(installed.status, String(installed.stderr)).to.equal(0);
    expect(status, stdout + stderr).to.equal(0);
    const resources = MANIFESTS.flatMap((path) => parseAllDocuments(readFileSync(path, "utf8")));
    expect(`${stdout}${stderr}`.match(/ passed for resource /g)).to.have.length(resources.length);
  });
});
