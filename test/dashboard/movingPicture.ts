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

/** Assembles lossy WebP images, each of which covers the whole picture, into an animated one that repeats for ever. */
function assemble(images: readonly Buffer[], { width, height }: { width: number; height: number }): Buffer {
  const size = Buffer.concat([uint(3, width - 1), uint(3, height - 1)]);
  const frames = images.map((image, i) => {
    const delay = uint(3, i === images.length - 1 ? LAST_FRAME_MS : FRAME_MS);
    return chunk("ANMF", Buffer.alloc(6), size, delay, Buffer.of(DO_NOT_BLEND), image.subarray(RIFF_HEADER));
  });
  return chunk(
    "RIFF",
    Buffer.from("WEBP"),
    chunk("VP8X", uint(4, IS_ANIMATION), size),
    chunk("ANIM", Buffer.alloc(6)),
    ...frames,
  );
}

/** The values of the format: https://developers.google.com/speed/webp/docs/riff_container */
const IS_ANIMATION = 2;
const DO_NOT_BLEND = 2;
const RIFF_HEADER = 12;

const uint = (bytes: number, value: number): Buffer => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntLE(value, 0, bytes);
  return buffer;
};

function chunk(name: string, ...parts: readonly Buffer[]): Buffer {
  const data = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(name), uint(4, data.length), data, Buffer.alloc(data.length % 2)]);
}
