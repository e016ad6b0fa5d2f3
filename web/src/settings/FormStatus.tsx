import type { Form } from "../ui/useForm.ts";

/** Says what is wrong with a form as a whole, or that its submission succeeded. */
export function FormStatus({ form, done }: { form: Form; done?: string }) {
  const problem = form.errors[""];
  return (
    <p role="status" className={`min-h-6 text-sm ${problem ? "text-warn" : "text-soft"}`}>
      {problem ?? (form.done ? done : undefined)}
    </p>
  );
}
