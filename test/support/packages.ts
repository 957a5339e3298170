/**
 * Whether to test the packages in full, as the nightly command does with `TEST_PACKAGES=full`: on every runtime that they
 * support, and the types of the Python client. The gate runs the tests on the oldest Node, and the most important ones
 * on the Node of a clone.
 */
export const IN_FULL = process.env.TEST_PACKAGES === "full";
