import { ERRORS } from "../../shared/errorCatalogue.ts";

const ERROR_ITEM = {
  type: "object",
  title: "ErrorItem",
  description: "An invalid field or parameter.",
  required: ["detail"],
  properties: {
    pointer: { type: "string", description: "Path of the field in the body, as a JSON Pointer: `/metadata/team`." },
    parameter: { type: "string", description: "Name of the parameter in the path, the query or the headers." },
    detail: { type: "string", description: "The problem of the field or parameter." },
  },
};

/** The schema of the body of every error response in openapi.json. */
export const PROBLEM = {
  type: "object",
  title: "Problem",
  description: "The body of every error response: problem details as in RFC 9457.",
  required: ["type", "title", "status", "detail", "code"],
  properties: {
    type: { type: "string", description: "URL of the page that explains the code." },
    title: { type: "string", description: "The meaning of the code; the same text for each error with this code." },
    status: { type: "integer", description: "The HTTP status of the response." },
    detail: {
      type: "string",
      description: "The problem of this request, and how to correct it. For people; it can change.",
    },
    code: {
      type: "string",
      enum: Object.keys(ERRORS),
      description: "Identifies the kind of error. Programs should read this: codes are added and never renamed.",
    },
    gate: {
      type: "object",
      additionalProperties: true,
      title: "JsonObject",
      description: "The gate as it is, with its answer; present for `gate_answered` and `gate_closed`.",
    },
    errors: { type: "array", description: "Each invalid field or parameter.", items: ERROR_ITEM },
  },
};
