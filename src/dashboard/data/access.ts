import { type Access, SignalboxError } from "../../client/client.ts";
import { navigate, place } from "../router.ts";
import { service } from "./service.ts";
import { Store } from "./store.ts";

/** Null until the service has said. */
export const access = new Store<Access | null>(null);

/** Why the service could not say it. */
export const accessError = new Store<unknown>(null);

/** The other pages of this browser, for which a log-in or log-out holds too. */
const others = new BroadcastChannel("signalbox.access");

export function followLoginChanges(): void {
  others.addEventListener("message", () => void readAccess());
}

export async function readAccess(): Promise<void> {
  try {
    access.set(await service.access.get());
    accessError.set(null);
  } catch (error) {
    accessError.set(error);
  }
}

/** @throws SignalboxError 401 for a wrong token */
export async function logIn(token: string): Promise<void> {
  await service.access.logIn(token);
  others.postMessage(null);
  await readAccess();
}

export async function logOut(): Promise<void> {
  await service.access.logOut();
  others.postMessage(null);
  await readAccess();
}

/** An answer 401 means that the log-in has ended: to the log-in, and from there back to here. */
export function checkAccess(error: unknown): void {
  if (!(error instanceof SignalboxError) || error.status !== 401) return;
  const currentAccess = access.value;
  access.set({ needsToken: true, access: null });
  if (currentAccess?.access !== null) redirectToLogin();
}

export function redirectToLogin(): void {
  const { path, href } = place.value;
  if (path !== "/login") navigate(`/login?to=${encodeURIComponent(href)}`, { replace: true });
}

/** Whether the reader may change things. */
export const canWrite = (currentAccess: Access | null): boolean => currentAccess?.access === "full";
