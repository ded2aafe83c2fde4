/** The page that submits a run. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { readFailureText } from '../../api/failure.ts'
import { linkToRun } from '../../api/links.ts'
import { useServer } from '../../api/server.ts'
import { useCapabilities } from '../../api/use-capabilities.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Empty, Loading, Notice } from '../../ui/feedback/notice.tsx'
import { createDraft } from './draft.ts'
import { toDraftFromRun, hasOtherTasks } from './read-draft.ts'
import { readStoredSubmission } from './use-submission.ts'
import { SubmitForm } from './submit-form.tsx'

import type { Capabilities, RunDetail } from '@tutti/protocol'

/** The page; `from` is a run to copy. */
export function SubmitPage({ from }: { readonly from: string | undefined }) {
  const { client } = useServer()
  const capabilities = useCapabilities()
  const run = useQuery({
    queryKey: ['run-detail', from],
    queryFn: ({ signal }) => client.runs.get(from ?? '', { signal }),
    enabled: from !== undefined,
  })
  if (capabilities.error !== null) {
    return (
      <Notice
        tone="failed"
        title="Failed to load the capabilities of the server"
        actions={<Button onClick={() => void capabilities.refetch()}>Try again</Button>}
      >
        <p>{readFailureText(capabilities.error)}</p>
      </Notice>
    )
  }
  const isReading = from !== undefined && run.isPending
  if (capabilities.data === undefined || isReading) return <Loading label="Loading ensembles" />
  if (capabilities.data.ensembles.length === 0) {
    return (
      <Empty title="No ensembles">Register an ensemble in the configuration of the server.</Empty>
    )
  }
  return (
    <StartedForm from={from} capabilities={capabilities.data} run={run.data} runError={run.error} />
  )
}

function StartedForm({
  from,
  capabilities,
  run,
  runError,
}: {
  readonly from: string | undefined
  readonly capabilities: Capabilities
  readonly run: RunDetail | undefined
  readonly runError: Error | null
}) {
  const { ensembles } = capabilities
  const [stored] = useState(() => readStoredSubmission(from))
  const [initial] = useState(() =>
    run === undefined ? createDraft() : toDraftFromRun(run, ensembles),
  )
  return (
    <SubmitForm
      from={from}
      capabilities={capabilities}
      initial={initial}
      stored={stored}
      note={
        from !== undefined && (
          <FromNote
            runId={from}
            isOwn={run !== undefined && hasOtherTasks(run, ensembles)}
            error={runError}
          />
        )
      }
    />
  )
}

/** A note on what was copied from the run, and what was not. */
function FromNote({
  runId,
  isOwn,
  error,
}: {
  readonly runId: string
  readonly isOwn: boolean
  readonly error: Error | null
}) {
  if (error !== null) {
    return (
      <Notice tone="failed" title={`Failed to load run "${runId}"`}>
        <p>{readFailureText(error)}</p>
      </Notice>
    )
  }
  return (
    <Notice>
      <p>
        {'Copied the ensemble, inputs, tags, options and budget of run '}
        <a href={linkToRun(runId)}>{runId}</a>
        {isOwn
          ? '. The run defined its own tasks, which cannot be copied.'
          : '. Overrides of its tasks cannot be copied.'}
      </p>
    </Notice>
  )
}
