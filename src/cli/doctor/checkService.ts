import type { Config } from "../../config/config.ts";
import { isObject } from "../../shared/text/json.ts";
import { serviceUrl } from "../serviceAccess.ts";
import { ask } from "./ask.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** The errors of a program that listens, but does not answer in HTTP or in time. */
const LISTENS = /^(HPE_|UND_ERR_SOCKET$|ECONNRESET$|EPIPE$|TimeoutError$)/;

/** Checks the service, if it runs, and that `server.publicUrl` leads to it. */
export async function checkService(env: NodeJS.ProcessEnv, config: Config): Promise<Finding[]> {
  const [own, shared] = await Promise.all([checkOwn(serviceUrl(env, config)), checkPublicUrl(config)]);
  // Only the public address leads to processes on other machines.
  const isElsewhere = own.isAway && !env.SIGNALBOX_URL && shared.some(({ kind }) => kind === "ok");
  return isElsewhere ? shared : [own.finding, ...shared];
}

interface OwnService {
  readonly finding: Finding;
  /** Whether nothing listens at the address. */
  readonly isAway?: boolean;
}

async function checkOwn(url: string): Promise<OwnService> {
  const answer = await ask(`${url}/readyz`);
  if ("code" in answer && !LISTENS.test(answer.code)) {
    return { isAway: true, finding: warn(`No service answers at ${url}: start it with signalbox start.`) };
  }
  if ("code" in answer || !Array.isArray(answer.body.checks)) {
    const what = "another program uses this port, or a service that hangs";
    return {
      finding: fail(`${url} does not answer as Signalbox: ${what}. Stop it, or set PORT to another (server.port).`),
    };
  }
  if (answer.body.status === "degraded") {
    return {
      finding: warn(`The service at ${url} works without Redis: runs and deliveries wait until Redis answers.`),
    };
  }
  if (answer.status === 200) return { finding: ok(`The service answers at ${url} and is ready.`) };
  return { finding: fail(`The service at ${url} is not ready (${answer.status}): ${missingOf(answer.body.checks)}.`) };
}

/** Returns what a service that is not ready lacks, by the checks of /readyz. */
function missingOf(checks: readonly unknown[]): string {
  const missing = checks.filter(isObject).filter(({ ok: works }) => works === false);
  if (missing.some(({ name }) => name === "process")) return "it stops";
  return `it lacks ${missing.map(({ name }) => String(name)).join(", ") || "something"}; correct that first`;
}

/**
 * Checks that `server.publicUrl` leads to a service, if it is set. This machine may be unable to reach it although others
 * can.
 */
async function checkPublicUrl({ server: { publicUrl } }: Config): Promise<Finding[]> {
  if (publicUrl === undefined) return [];
  const setting = "SIGNALBOX_PUBLIC_URL (server.publicUrl)";
  const answer = await ask(`${publicUrl}/healthz`);
  if ("code" in answer) {
    const remedy = `check its DNS entry, its certificate and the proxy, or correct ${setting}`;
    return [warn(`${publicUrl} cannot be reached from this machine (${answer.code}): ${remedy}.`)];
  }
  const isOurs = answer.status === 200 && answer.body.status === "ok";
  if (isOurs || (await describesItself(publicUrl))) return [ok(`The service answers at ${publicUrl}.`)];
  if ([502, 503, 504].includes(answer.status)) {
    return [
      warn(`The proxy at ${publicUrl} does not reach the service (${answer.status}): start it, or correct the proxy.`),
    ];
  }
  const what = `${publicUrl} answers as another service (${answer.status} for /healthz)`;
  return [fail(`${what}: let the proxy pass requests to Signalbox with their whole path, or correct ${setting}.`)];
}

/** Returns whether a URL serves the API's description: a proxy may keep /healthz from everybody else. */
async function describesItself(url: string): Promise<boolean> {
  const answer = await ask(`${url}/openapi.json`);
  return "body" in answer && isObject(answer.body.info) && answer.body.info.title === "Signalbox";
}
