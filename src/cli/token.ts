/** Whether a header can carry the token; what fetch throws of another would show it. White space at its end is left out. */
export const isSendable = (token = ""): boolean => !/[^ -~]/.test(token.trimEnd());
