import { useMutation } from "@apollo/client/react";
import { useState } from "react";
import { describeError, sentence } from "../api/errors.ts";
import { DeletePostDocument } from "../api/generated.ts";
import { useServices } from "../app/services.ts";

export interface DeleteQuestionProps {
  postId: string;
  authorId: string;
  onKeep: () => void;
  onDeleted?: (() => void) | undefined;
}

/** Asks whether a post is to be deleted, and deletes it. */
export function DeleteQuestion({ postId, authorId, onKeep, onDeleted }: DeleteQuestionProps) {
  const { client } = useServices();
  const [problem, setProblem] = useState<string>();
  const [run, { loading }] = useMutation(DeletePostDocument);
  const remove = async () => {
    setProblem(undefined);
    try {
      const { data } = await run({ variables: { postId } });
      const failure = data?.deletePost?.userErrors[0];
      if (failure) return setProblem(sentence(failure.message));
      client.cache.modify({
        id: client.cache.identify({ __typename: "User", id: authorId }) ?? "",
        fields: { postCount: (count: number) => Math.max(count - 1, 0) },
      });
      onDeleted?.();
      client.cache.bury(postId);
    } catch (error) {
      setProblem(describeError(error));
    }
  };
  const button = "rounded-full border px-3 py-1 font-medium";
  return (
    <div
      role="group"
      aria-label="Delete this post?"
      onKeyDown={(event) => event.key === "Escape" && onKeep()}
      className="mt-3 flex flex-wrap items-center justify-end gap-2 text-sm"
    >
      <p role="status" className={`mr-auto ${problem ? "text-warn" : "text-soft"}`}>
        {problem ?? "Delete this post for good?"}
      </p>
      <span className="flex gap-2">
        <button type="button" autoFocus disabled={loading} onClick={() => void remove()} className={`${button} border-warn text-warn hover:bg-warn-wash`}>
          Yes, delete
        </button>
        <button type="button" onClick={onKeep} className={`${button} border-line hover:bg-wash`}>
          Keep
        </button>
      </span>
    </div>
  );
}
