/**
 * The lengths of a key in Standard Webhooks, in bytes:
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
const MIN_BYTES = 24;
const MAX_BYTES = 64;

/**
 * Returns a sentence, beginning with the key, for each fault in the secrets with which Signalbox signs its own requests: one
 * secret, or a list of them while a new one replaces an old one.
 */
export function signingSecretFaults(key: string, secret: string | readonly string[]): string[] {
  if (typeof secret === "string") return keyed(key, secretFault(secret));
  return secret.flatMap((one, i) => {
    const fault = secretFault(one);
    const twin = secret.indexOf(one);
    const repeated = "is the same secret again: list the new secret and the old one, or give only one";
    return keyed(`${key}.${i}`, fault ?? (twin < i ? repeated : null));
  });
}

const keyed = (key: string, fault: string | null): string[] => (fault === null ? [] : [`${key} ${fault}`]);

const PREFIX = "whsec_";

/** Returns the bytes of a secret; undefined when it is not strict base64, which the libraries of receivers require. */
function bytesOf(secret: string): Buffer | undefined {
  const encoded = secret.slice(PREFIX.length);
  const bytes = Buffer.from(encoded, "base64");
  return secret.startsWith(PREFIX) && bytes.toString("base64") === encoded ? bytes : undefined;
}

const MAKE = `create one with \`echo ${PREFIX}$(openssl rand -base64 32)\``;

function secretFault(secret: string): string | null {
  const bytes = bytesOf(secret);
  if (!bytes) return `must be ${PREFIX} and base64: ${MAKE}`;
  if (bytes.length >= MIN_BYTES && bytes.length <= MAX_BYTES) return null;
  return `must have ${MIN_BYTES} to ${MAX_BYTES} bytes after ${PREFIX}, and has ${bytes.length}: ${MAKE}`;
}
