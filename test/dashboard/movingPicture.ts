import webp from "node-webpmux";
import type { Page } from "playwright-core";
import type { TestApp } from "../support/app.ts";
import { report } from "../support/factories.ts";

const FRAME_MS = 500;
const LAST_FRAME_MS = 2_500;
const QUALITY = 70;

const DEPLOY = "deploy-shop-412";
const EXPORT = "export-7";

const build = { step: "build", stepName: "Build", jobProgressStart: 0, jobProgressEnd: 40 };
const test = { step: "test", stepName: "Test", jobProgressStart: 40, jobProgressEnd: 85 };
const roll = { step: "roll", stepName: "Roll out", jobProgressStart: 85, jobProgressEnd: 100 };
const rows = { step: "rows", stepName: "Export", jobProgressStart: 0, jobProgressEnd: 100 };
const done = { status: "completed", progress: 100 };

/** A deployment of three steps that completes, and beside it an export that fails. */
const REPORTS: readonly [job: string, report: { step: string; message: string; [field: string]: unknown }][] = [
  [DEPLOY, { ...build, progress: 10, message: "2 of 22 packages built" }],
  [DEPLOY, { ...build, progress: 36, message: "8 of 22 packages built" }],
  [EXPORT, { ...rows, progress: 8, message: "80,000 rows written" }],
  [DEPLOY, { ...build, progress: 64, message: "14 of 22 packages built" }],
  [EXPORT, { ...rows, progress: 19, message: "190,000 rows written" }],
  [DEPLOY, { ...build, progress: 91, message: "20 of 22 packages built" }],
  [DEPLOY, { ...build, ...done, message: "22 packages built" }],
  [EXPORT, { ...rows, progress: 31, message: "310,000 rows written" }],
  [DEPLOY, { ...test, progress: 12, message: "72 of 600 tests passed" }],
  [EXPORT, { ...rows, progress: 44, message: "440,000 rows written" }],
  [DEPLOY, { ...test, progress: 35, message: "210 of 600 tests passed" }],
  [EXPORT, { ...rows, progress: 55, message: "550,000 rows written" }],
  [DEPLOY, { ...test, progress: 58, message: "348 of 600 tests passed" }],
  [EXPORT, { ...rows, status: "failed", failJob: true, message: "The disk is full after 550,000 rows" }],
  [DEPLOY, { ...test, progress: 81, message: "486 of 600 tests passed" }],
  [DEPLOY, { ...test, ...done, message: "600 tests passed" }],
  [DEPLOY, { ...roll, progress: 25, message: "1 of 4 servers" }],
  [DEPLOY, { ...roll, progress: 75, message: "3 of 4 servers" }],
  [DEPLOY, { ...roll, ...done, message: "Version 412 is live", output: { version: 412 } }],
];

/** Reports on two jobs while a page shows them, and returns the animated WebP of the page, a frame for each report. */
export async function filmJobs(app: TestApp, page: Page): Promise<Buffer> {
  const session = await page.context().newCDPSession(page);
  const frames: Buffer[] = [];
  const shoot = async () => {
    const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: QUALITY });
    frames.push(Buffer.from(data, "base64"));
  };
  await shoot();
  for (const [jobId, name] of [
    [DEPLOY, "Deploy the shop"],
    [EXPORT, "Export of all orders"],
  ]) {
    await app.call("PUT", `/api/jobs/${jobId}`, { name });
    await page.getByText(String(name)).first().waitFor();
    await shoot();
  }
  for (const [job, { step, ...body }] of REPORTS) {
    await report(app, `/api/jobs/${job}`, step, body);
    await page.getByText(body.message).first().waitFor();
    await shoot();
  }
  return assemble(frames, page.viewportSize() ?? { width: 0, height: 0 });
}

async function assemble(images: readonly Buffer[], size: { width: number; height: number }): Promise<Buffer> {
  const { Image } = webp;
  const frames = await Promise.all(
    images.map((buffer, i) =>
      Image.generateFrame({ buffer, delay: i === images.length - 1 ? LAST_FRAME_MS : FRAME_MS, blend: false }),
    ),
  );
  return Image.save(null, { frames, loops: 0, ...size });
}
