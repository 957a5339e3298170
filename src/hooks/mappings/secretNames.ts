/** Matches the names of headers and parameters that senders put secrets into, such as `X-Gitlab-Token` and `api_key`. */
const SECRET_NAME = /(^|[-_.])(token|secret|password|passwd|api-?_?key|access-?_?key|credentials?|auth)($|[-_.])/i;

/** Returns whether the value of a header or parameter may be a secret by its name. */
export const isSecretName = (name: string): boolean => SECRET_NAME.test(name);
