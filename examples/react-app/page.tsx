/** The page: submits runs, follows one of them, decides its reviews, and continues a conversation. */
import { createClient } from '@tutti/client'
import { TuttiProvider, useRuns } from '@tutti/react'
import { StrictMode, useState } from 'react'
import { createRoot } from 'react-dom/client'

import { Conversation } from './conversation.tsx'
import { NewRun } from './new-run.tsx'
import { RunView } from './run-view.tsx'

const THREAD = 'questions'

// Create the client once, outside of components.
const client = createClient({ baseUrl: location.origin })

function App() {
  const [runId, setRunId] = useState<string>()
  return (
    <>
      <NewRun onSubmitted={setRunId} />
      {runId !== undefined && <RunView runId={runId} />}
      <Letters onOpen={setRunId} />
      <Conversation threadId={THREAD} />
    </>
  )
}

/** The list is read again whenever a run changes, also one that was submitted elsewhere. */
function Letters({ onOpen }: { readonly onOpen: (runId: string) => void }) {
  const { data, error } = useRuns({ ensemble: 'letters', limit: 10 })
  return (
    <section aria-label="Letters">
      {error !== undefined && <p role="alert">{error.message}</p>}
      <ul>
        {data?.runs.map(({ runId, status }) => (
          <li key={runId}>
            <button onClick={() => onOpen(runId)}>{runId}</button> {status}
          </li>
        ))}
      </ul>
    </section>
  )
}

// A repeated request returns the existing thread.
await client.threads.create({ threadId: THREAD })

const main = document.querySelector('main')
if (main !== null) {
  createRoot(main).render(
    <StrictMode>
      <TuttiProvider client={client}>
        <App />
      </TuttiProvider>
    </StrictMode>,
  )
}
