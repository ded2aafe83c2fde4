/** A conversation, in which each message of the user is a run that knows the earlier ones. */
import { useThread } from '@tutti/react'
import { useState } from 'react'

export function Conversation({ threadId }: { readonly threadId: string }) {
  const { runs, isBusy, send, cancel, error } = useThread(threadId)
  const [message, setMessage] = useState('')
  const [problem, setProblem] = useState<Error>()

  async function ask(): Promise<void> {
    const failed = await send({ ensemble: 'guide', inputs: { message } })
    setProblem(failed)
    if (failed === undefined) setMessage('')
  }

  return (
    <section aria-label="Conversation">
      {runs.map(({ runId, userMessage, assistantMessage, status }) => (
        <p key={runId}>
          {userMessage}: {assistantMessage ?? status}
        </p>
      ))}
      <label>
        Question <input value={message} onChange={({ target }) => setMessage(target.value)} />
      </label>
      <button onClick={() => void ask()} disabled={isBusy || message === ''}>
        Ask
      </button>
      <button onClick={() => void cancel()} disabled={!isBusy}>
        Cancel
      </button>
      {(problem ?? error) !== undefined && <p role="alert">{(problem ?? error)?.message}</p>}
    </section>
  )
}
