/** The JSON Schema pattern of the address of a page. */
export const PAGE_URL_PATTERN = "^[Hh][Tt][Tt][Pp][Ss]?://[^\\s/]\\S*$";
/** Maximum characters of such an address. */
export const MAX_PAGE_URL = 2_048;

const PAGE_URL = new RegExp(PAGE_URL_PATTERN);

/** Returns whether a text is the address of a page, as links have it. */
export const isPageUrl = (text: string): boolean => text.length <= MAX_PAGE_URL && PAGE_URL.test(text);
