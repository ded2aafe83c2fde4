/** Submits a run. */
import { useTuttiClient } from '@tutti/react'
import { useState } from 'react'

export function NewRun({ onSubmitted }: { readonly onSubmitted: (runId: string) => void }) {
  const client = useTuttiClient()
  const [name, setName] = useState('Ada')
  const [problem, setProblem] = useState<string>()

  async function submit(): Promise<void> {
    try {
      const { runId } = await client.runs.submit({ ensemble: 'letters', inputs: { name } })
      setProblem(undefined)
      onSubmitted(runId)
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    }
  }

  return (
    <p>
      <label>
        Name <input value={name} onChange={({ target }) => setName(target.value)} />
      </label>
      <button onClick={() => void submit()}>Write</button>
      {problem !== undefined && <span role="alert">{problem}</span>}
    </p>
  )
}
