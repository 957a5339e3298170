/** A recipient of signal-cli. `single` is a number or a UUID; `group` is signal-cli's own id, the base64 of its bytes. */
export interface SignalRecipient {
  readonly kind: "single" | "username" | "group";
  readonly id: string;
}

const NUMBER = /^\+\d{5,15}$/;
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;
/** Base64 of 32 bytes, or of 16 for an old group. */
const GROUP_ID = /^(?:[A-Za-z\d+/]{43}=|[A-Za-z\d+/]{22}==)$/;
/** A name and its digits, such as `name.01`. */
const USERNAME = /^[A-Za-z_]\w{2,31}\.\d{2,10}$/;

/**
 * Parses a recipient; returns undefined if it has none of the accepted forms. After `group.` comes the id of signal-cli, or
 * that of signal-cli-rest-api, which is base64-encoded once more.
 */
export function readRecipient(to: string): SignalRecipient | undefined {
  if (NUMBER.test(to) || UUID.test(to)) return { kind: "single", id: to };
  if (/^u:./.test(to)) return { kind: "username", id: to.slice(2) };
  // Checked before groups, as a user's name may be `group`.
  if (USERNAME.test(to)) return { kind: "username", id: to };
  const id = to.replace(/^group\./, "");
  if (id === to) return undefined;
  const inner = Buffer.from(id, "base64").toString("latin1");
  const group = [inner, id].find((candidate) => GROUP_ID.test(candidate));
  return group === undefined ? undefined : { kind: "group", id: group };
}
