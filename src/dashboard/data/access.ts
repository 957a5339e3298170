import { signal } from "@preact/signals";
import { type Access, SignalboxError } from "../../client/client.ts";
import { address, navigate, place } from "../router.ts";
import { takeFirst } from "./first.ts";
import { service } from "./service.ts";

/** The access of this browser; null until the service has responded. */
export const access = signal<Access | null>(takeFirst("session") ?? null);

/** The error of the last request for the access; null if it succeeded. */
export const accessError = signal<unknown>(null);

/** The dashboard's other pages in this browser, which share its login. */
const others = new BroadcastChannel("signalbox.access");

export function followLoginChanges(): void {
  others.addEventListener("message", () => void readAccess());
}

export async function readAccess(): Promise<void> {
  try {
    access.value = await service.access.get();
    accessError.value = null;
  } catch (error) {
    accessError.value = error;
  }
}

/** @throws SignalboxError 401 for a wrong token */
export async function logIn(token: string): Promise<void> {
  await service.access.logIn(token);
  others.postMessage(null);
  await readAccess();
}

/** Ends the login here and, after a login with the company's account, at its provider too. */
export async function logOut(): Promise<void> {
  const { by } = access.value ?? {};
  await service.access.logOut();
  others.postMessage(null);
  if (by === "provider") return location.assign(`${address("/login")}/logout`);
  await readAccess();
}

const LOGGED_OUT: Omit<Access, "provider"> = {
  needsToken: true,
  access: null,
  name: null,
  by: null,
  scopes: [],
  jobIdPrefixes: null,
  hooksUrl: null,
};

/** Redirects to the login page, which leads back, when the error is a 401: the login has ended. */
export function checkAccess(error: unknown): void {
  if (!(error instanceof SignalboxError) || error.status !== 401) return;
  const currentAccess = access.value;
  access.value = { ...LOGGED_OUT, provider: currentAccess?.provider ?? null };
  if (currentAccess?.access !== null) redirectToLogin();
}

export function redirectToLogin(): void {
  const { path, href } = place.value;
  if (path !== "/login") navigate(`${address("/login")}?to=${encodeURIComponent(href)}`, { replace: true });
}

/** Whether this access has a scope. */
export const hasScope = (currentAccess: Access | null, scope: string): boolean =>
  currentAccess !== null && ["admin", scope].some((one) => currentAccess.scopes.includes(one));
