import { hash, randomBytes } from "node:crypto";
import type { OidcConfig } from "../../config/access/people.ts";
import { MAX_CONTENT_BYTES, type Seals } from "../../models/jobs/tokens/seal.ts";
import type { Clock } from "../../shared/clock.ts";
import type { EndingIdentity } from "../auth/caller.ts";
import { grantsOf } from "./roles.ts";

/** A person as the provider describes them. */
export interface Member {
  readonly subject: string;
  /** An address that the provider has verified. */
  readonly email: string | null;
  readonly name: string;
  readonly groups: readonly string[];
}

/** Maximum groups that a session holds, those that a role names first; fewer where long texts leave less room in the cookie. */
const MAX_GROUPS = 150;
/** Maximum characters of the texts of a session. */
const MAX_SUBJECT_CHARS = 255;
const MAX_NAME_CHARS = 60;
const DIGEST_CHARS = 12;
const DIGESTS = new RegExp(`.{${DIGEST_CHARS}}`, "g");

/**
 * Seals and opens the sessions of people, which are stored nowhere. A session holds the digests of the groups in place of the
 * scopes, so that a change of the roles takes effect with the next request.
 */
export class Sessions {
  readonly #settings: OidcConfig;
  readonly #seals: Seals;
  readonly #clock: Clock;
  readonly #grantsFor: ReturnType<typeof grantsOf>;

  constructor(settings: OidcConfig, seals: Seals, clock: Clock) {
    this.#settings = settings;
    this.#seals = seals;
    this.#clock = clock;
    this.#grantsFor = grantsOf(settings, digestOf);
  }

  /** Returns the session of a person who has logged in now, and what the session says. @throws AppError unavailable */
  async seal({ subject, email, name, groups }: Member): Promise<{ cookie: string; identity: EndingIdentity }> {
    const { issuer, roles = [], sessionHours } = this.#settings;
    const short = (text: string, chars: number) => text.slice(0, chars).toWellFormed();
    const named = new Set(roles.flatMap((role) => role.groups));
    const kept = [...groups.filter((group) => named.has(group)), ...groups.filter((group) => !named.has(group))];
    const end = Math.floor(this.#clock.now().getTime() / 1_000 + sessionHours * 3_600);
    const nonce = randomBytes(9).toString("base64url"); // a log-out ends no other session
    const texts = [short(subject, MAX_SUBJECT_CHARS), email, short(name, MAX_NAME_CHARS)] as const;
    const contentOf = (digests: readonly string[]): Content => [
      digestOf(issuer),
      ...texts,
      digests.join(""),
      end,
      nonce,
    ];
    const room = Math.floor((MAX_CONTENT_BYTES - Buffer.byteLength(JSON.stringify(contentOf([])))) / DIGEST_CHARS);
    const content = contentOf([...new Set(kept)].slice(0, Math.min(MAX_GROUPS, room)).map(digestOf));
    return { cookie: await this.#seals.seal("person", content), identity: this.#identityOf(content) };
  }

  /**
   * Returns who a session stands for, whether it has expired or not.
   * @returns null for another text, the session of another provider, or a person who has no role any more
   * @throws AppError unavailable
   */
  async open(cookie: string): Promise<EndingIdentity | null> {
    const content = (await this.#seals.open("person", cookie)) as Content | null;
    if (content?.[0] !== digestOf(this.#settings.issuer)) return null;
    const identity = this.#identityOf(content);
    return identity.grants.length > 0 ? identity : null;
  }

  #identityOf([, subject, email, name, digests, end]: Content): EndingIdentity {
    return {
      actor: `oidc:${email ?? subjectName(subject)}`,
      grants: this.#grantsFor(digests.match(DIGESTS) ?? []),
      expiresAt: new Date(end * 1_000),
      person: { name, setting: "server.oidc" },
    };
  }
}

/** The content of a session, with digests of the issuer and of the groups. */
type Content = [
  issuer: string,
  subject: string,
  email: string | null,
  name: string,
  digests: string,
  end: number,
  nonce: string,
];

/** Returns the name of a subject in the audit log. One that looks like an address must not be taken for a verified one. */
const subjectName = (subject: string): string => (subject.includes("@") ? `sub=${subject}` : subject);

/** 72 bits: whoever may name groups cannot find one with the digest of a group that a role names. */
const digestOf = (group: string): string => hash("sha256", group, "base64url").slice(0, DIGEST_CHARS);
