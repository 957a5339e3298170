/** The result of one check: what was found and, unless it is good, what to do. */
export interface Finding {
  readonly kind: "ok" | "warn" | "FAIL";
  readonly text: string;
}

export const ok = (text: string): Finding => ({ kind: "ok", text });
/** A finding that the service works with. */
export const warn = (text: string): Finding => ({ kind: "warn", text });
export const fail = (text: string): Finding => ({ kind: "FAIL", text });
