import { CombinedGraphQLErrors } from "@apollo/client";

/** Says what went wrong in words for the person in front of the screen. */
export function describeError(error: unknown): string {
  if (!CombinedGraphQLErrors.is(error)) return "The server cannot be reached. Check your connection.";
  const first = error.errors[0];
  switch (first?.extensions?.["code"]) {
    case "UNAUTHENTICATED":
      return "You are logged out. Log in and try again.";
    case "RATE_LIMITED": // the message says until when
      return sentence(first.message);
    case "INTERNAL_SERVER_ERROR": {
      const id = first.extensions["id"];
      return `Something went wrong on the server${typeof id === "string" ? ` (${id})` : ""}. Try again.`;
    }
    default:
      return first?.message ?? "Something went wrong. Try again.";
  }
}

/** Whether an error has the code of the API. */
export function hasCode(error: unknown, code: string): boolean {
  return CombinedGraphQLErrors.is(error) && error.errors.some((e) => e.extensions?.["code"] === code);
}

/** The messages of userErrors by the input field they blame; those of no field under "". */
export function byField(errors: readonly { field?: readonly string[] | null; message: string }[]): Record<string, string> {
  const messages: Record<string, string> = {};
  for (const error of errors) {
    const field = error.field?.at(-1) ?? "";
    messages[field] ??= sentence(error.message);
  }
  return messages;
}

/** The server writes messages like Go's errors: in lower case, without a full stop. */
export function sentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
