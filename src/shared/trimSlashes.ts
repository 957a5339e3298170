/** A configured address without the slashes at its end: paths go behind it. */
export const trimSlashes = (address: string): string => address.replace(/(?<!\/)\/+$/, "");
