/** Whom Signal's programs can write to. `single`: a number or a UUID. `group`: by signal-cli's own id, base64 of its bytes. */
export interface SignalRecipient {
  readonly kind: "single" | "username" | "group";
  readonly id: string;
}

const NUMBER = /^\+\d{5,15}$/;
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;
/** 32 bytes, or 16 of an old group. */
const GROUP_ID = /^(?:[A-Za-z\d+/]{43}=|[A-Za-z\d+/]{22}==)$/;
/** A name and the digits that go with it. */
const USERNAME = /^[A-Za-z_]\w{2,31}\.\d{2,10}$/;

/**
 * `group.` goes before the id as signal-cli-rest-api gives it, which is base64 once more, or as signal-cli does.
 * @returns nothing for what is none of them
 */
export function readRecipient(to: string): SignalRecipient | undefined {
  if (NUMBER.test(to) || UUID.test(to)) return { kind: "single", id: to };
  if (/^u:./.test(to)) return { kind: "username", id: to.slice(2) };
  // Before groups: the name may be `group`.
  if (USERNAME.test(to)) return { kind: "username", id: to };
  const id = to.replace(/^group\./, "");
  if (id === to) return undefined;
  const inner = Buffer.from(id, "base64").toString("latin1");
  const group = [inner, id].find((candidate) => GROUP_ID.test(candidate));
  return group === undefined ? undefined : { kind: "group", id: group };
}

export const INVALID_RECIPIENT = {
  kind: "gone",
  reason: "No recipient of Signal: give a number with its country code (+…), a UUID, group.… or u:name.",
} as const;
