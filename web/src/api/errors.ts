import type { Messages } from "../i18n/en.ts";
import type { Format } from "../i18n/format.ts";
import { countGraphemes, maxBioGraphemes, maxDisplayNameGraphemes, maxListNameGraphemes } from "./text.ts";

interface Texts {
  t: Messages;
  format: Format;
}

interface GraphQLError {
  message: string;
  extensions?: Record<string, unknown>;
}

/** A response of the API with GraphQL errors. */
export class ResponseError extends Error {
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super(errors[0]?.message);
    this.errors = errors;
  }
}

/** Explains an error of a request, by the code of its first GraphQL error. */
export function describeError(error: unknown, { t, format }: Texts): string {
  const first = graphQLErrors(error)?.[0];
  if (!first) return t.errors.unreachable;
  const { extensions = {} } = first;
  switch (extensions["code"]) {
    case "UNAUTHENTICATED":
      return t.errors.unauthenticated;
    case "FORBIDDEN":
      return t.errors.forbidden;
    case "NOT_FOUND":
      return t.errors.notFound;
    case "RATE_LIMITED":
      return t.errors.rateLimited(format.wait(retryAfter(extensions)));
    case "UNAVAILABLE":
      return t.errors.unavailable(format.wait(retryAfter(extensions)));
    case "BAD_USER_INPUT":
    case "GRAPHQL_PARSE_FAILED":
    case "GRAPHQL_VALIDATION_FAILED":
    case "PERSISTED_QUERY_NOT_FOUND":
      return t.errors.incompatible;
    case "COMPLEXITY_LIMIT_EXCEEDED":
      return t.errors.tooMuch;
    case "INTERNAL_SERVER_ERROR": {
      const id = extensions["id"];
      return t.errors.server(typeof id === "string" ? id : "");
    }
    default:
      return t.errors.unknown;
  }
}

/** The seconds after which a request may succeed. */
function retryAfter(extensions: Record<string, unknown>): number {
  return Number(extensions["retryAfter"]) || 1;
}

/** A failure that a mutation reports. */
export interface UserError {
  code: string;
  field?: readonly string[] | null;
  message: string;
}

/** Explains failures by the input field they concern, with "" for those that concern none. */
export function describeUserErrors(errors: readonly UserError[], texts: Texts, values: Record<string, string> = {}): Record<string, string> {
  const messages: Record<string, string> = {};
  for (const error of errors) {
    const field = error.field?.at(-1) ?? "";
    messages[field] ??= describeUserError(error, texts, values[field]);
  }
  return messages;
}

/** Explains one failure, by its code and field. Codes unknown to this version are explained in the server's words. */
export function describeUserError({ code, field, message }: UserError, { t, format }: Texts, value?: string): string {
  const texts = t.errors;
  const name = field?.at(-1);
  const length = value === undefined ? undefined : format.number(countGraphemes(value));
  if (code === "TOO_LONG" && length !== undefined) {
    if (name === "displayName") return texts.longDisplayName(format.number(maxDisplayNameGraphemes), length);
    if (name === "bio") return texts.longBio(format.number(maxBioGraphemes), length);
    if (name === "name") return texts.longListName(format.number(maxListNameGraphemes), length);
  }
  const ofField: Record<string, Record<string, string>> = {
    username: texts.username,
    password: texts.password,
    currentPassword: texts.password,
    newPassword: texts.password,
    displayName: texts.displayName,
    name: texts.listName,
    inReplyToId: texts.inReplyToId,
    quotedPostId: texts.quotedPostId,
  };
  return (name !== undefined ? ofField[name]?.[code] : undefined) ?? texts.codes[code] ?? sentence(message);
}

function graphQLErrors(error: unknown): readonly GraphQLError[] | undefined {
  const errors: unknown = error instanceof Error && "errors" in error ? error.errors : undefined;
  return Array.isArray(errors) ? (errors as GraphQLError[]) : undefined;
}

/** The server's messages begin in lower case and have no full stop. */
function sentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
