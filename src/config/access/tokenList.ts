// Apart from the schema of tokens, which takes a command long to load.

/** The value of a key that takes one token or a list of them. */
export type TokenList = string | readonly string[] | undefined;

/** Returns all tokens of a key. The first is the one that the service shows and that its command line uses. */
export const allTokens = (tokens: TokenList): readonly string[] => [tokens ?? []].flat();

/** Returns the token of a key that is shown and used; undefined when there is none. */
export const firstToken = (tokens: TokenList): string | undefined => allTokens(tokens)[0];

/** Returns whether nobody is let in anonymously: clients need a token, or people log in with their company's account. */
export const needsLogin = (server: {
  readonly apiToken?: TokenList;
  readonly oidc?: unknown;
  readonly userHeader?: unknown;
}): boolean => server.apiToken !== undefined || server.oidc !== undefined || server.userHeader !== undefined;
