import { useEffect, useRef, useState, type SubmitEvent } from "react";
import { describeError, describeUserErrors, type UserError } from "../api/errors.ts";
import { useI18n } from "../i18n/I18n.tsx";

/** The values of a form's fields, by their names. */
export type Values = Record<string, string>;

/** A form and the state of its submission. */
export interface Form {
  /** What to spread on the form element. */
  props: { ref: React.RefObject<HTMLFormElement | null>; noValidate: true; onSubmit: (event: SubmitEvent<HTMLFormElement>) => void };
  /** What is wrong with each field, and with the form as a whole under "". */
  errors: Record<string, string>;
  busy: boolean;
  /** The last submission succeeded. */
  done: boolean;
}

/**
 * Submits a form. `submit` returns the failures that the server reported; after one, the
 * first invalid field has the focus.
 */
export function useForm(submit: (values: Values, form: HTMLFormElement) => Promise<readonly UserError[]>): Form {
  const i18n = useI18n();
  const ref = useRef<HTMLFormElement>(null);
  const [state, setState] = useState<{ errors: Record<string, string>; busy: boolean; done: boolean }>({ errors: {}, busy: false, done: false });
  const { errors } = state;
  useEffect(() => {
    if (Object.keys(errors).length > 0) ref.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [errors]);
  const run = async (form: HTMLFormElement) => {
    const values: Values = {};
    for (const [name, value] of new FormData(form)) values[name] = String(value);
    setState({ errors: {}, busy: true, done: false });
    try {
      const failures = await submit(values, form);
      setState({ errors: describeUserErrors(failures, i18n, values), busy: false, done: failures.length === 0 });
    } catch (error) {
      setState({ errors: { "": describeError(error, i18n) }, busy: false, done: false });
    }
  };
  const onSubmit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!state.busy) void run(event.currentTarget);
  };
  return { props: { ref, noValidate: true, onSubmit }, ...state };
}
