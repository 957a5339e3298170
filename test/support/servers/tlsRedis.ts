import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { canTest } from "../machine.ts";
import { bin, startRedis, type TestServer } from "./servers.ts";

/** A key, and the certificate for localhost and 127.0.0.1 that it has signed itself, valid until 2126. */
export const CERTIFICATE = resolve("test/fixtures/localhost.pem");

/** Returns whether redis-server was built with TLS, as the one of the set-up's Python package is not. */
export function canTestTls(): boolean {
  const { stdout, stderr } = spawnSync(bin("redis-server"), ["--port", "0", "--tls-port", "0"], {
    encoding: "utf8",
  });
  const hasTls = !`${stdout}${stderr}`.includes("Bad directive");
  return canTest(hasTls, "Install the package redis-server of the system: tests of TLS need one with TLS.");
}

export async function startTlsRedis(port: number, more: readonly string[] = []): Promise<TestServer> {
  const files = ["cert", "key", "ca-cert"].flatMap((name) => [`--tls-${name}-file`, CERTIFICATE]);
  const onlyTls = ["--port", "0", "--tls-port", String(port), "--tls-auth-clients", "no", ...files];
  return startRedis([...onlyTls, ...more], port);
}
