/** Shows a run while it executes, and its open reviews. */
import { useReviews, useRun } from '@tutti/react'
import { useState } from 'react'

export function RunView({ runId }: { readonly runId: string }) {
  const { state, connection, error } = useRun(runId)
  return (
    <section aria-label="Run">
      <output title={connection}>{error?.message ?? state.status}</output>
      {state.tasks.map((task) => (
        <p key={task.name}>
          {/* The text of the newest turn grows token by token. */}
          {task.name} ({task.attempt}): {task.output ?? task.turns.at(-1)?.text}
        </p>
      ))}
      <Reviews runId={runId} />
    </section>
  )
}

function Reviews({ runId }: { readonly runId: string }) {
  const { data, error, decide } = useReviews({ runId })
  const [feedback, setFeedback] = useState('')
  const [problem, setProblem] = useState<Error>()

  async function answer(reviewId: string, isAccepted: boolean): Promise<void> {
    const failed = await decide(
      reviewId,
      isAccepted ? { decision: 'CONTINUE' } : { decision: 'REJECT', feedback },
    )
    setProblem(failed)
    if (failed === undefined) setFeedback('')
  }

  return (
    <>
      {data?.reviews.map(({ reviewId, prompt }) => (
        <fieldset key={reviewId}>
          <legend>{prompt}</legend>
          <label>
            Because <input value={feedback} onChange={({ target }) => setFeedback(target.value)} />
          </label>
          <button onClick={() => void answer(reviewId, true)}>Accept</button>
          <button onClick={() => void answer(reviewId, false)} disabled={feedback.trim() === ''}>
            Reject
          </button>
        </fieldset>
      ))}
      {(problem ?? error) !== undefined && <p role="alert">{(problem ?? error)?.message}</p>}
    </>
  )
}
