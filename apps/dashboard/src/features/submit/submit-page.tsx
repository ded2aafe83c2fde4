/** A form that submits a run at any of the three levels. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { failureText } from '../../api/failure.ts'
import { runHref } from '../../api/links.ts'
import { useServer } from '../../api/server.ts'
import { useCapabilities } from '../../api/use-capabilities.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Empty, Loading, Notice } from '../../ui/feedback/notice.tsx'
import { emptyDraft } from './draft.ts'
import { draftOfRun, hadOtherTasks } from './draft-of-body.ts'
import { keptSubmission } from './use-submission.ts'
import { SubmitForm } from './submit-form.tsx'

import type { Capabilities, RunDetail } from '@tutti/protocol'

/** The page; `from` is a run whose inputs it begins with. */
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
        title="What the server offers could not be read"
        actions={<Button onClick={() => void capabilities.refetch()}>Try again</Button>}
      >
        <p>{failureText(capabilities.error)}</p>
      </Notice>
    )
  }
  const isReading = from !== undefined && run.isPending
  if (capabilities.data === undefined || isReading) return <Loading label="Reading the ensembles" />
  if (capabilities.data.ensembles.length === 0) {
    return <Empty title="This server has no ensemble">Its configuration registers them.</Empty>
  }
  return <Begun from={from} capabilities={capabilities.data} run={run.data} runError={run.error} />
}

function Begun({
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
  const [kept] = useState(() => keptSubmission(from))
  const [initial] = useState(() => (run === undefined ? emptyDraft() : draftOfRun(run, ensembles)))
  return (
    <SubmitForm
      from={from}
      capabilities={capabilities}
      initial={initial}
      kept={kept}
      note={
        from !== undefined && (
          <FromNote
            runId={from}
            isOwn={run !== undefined && hadOtherTasks(run, ensembles)}
            error={runError}
          />
        )
      }
    />
  )
}

/** What is known of the run that the form begins with, and what is not. */
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
      <Notice tone="failed" title={`Run "${runId}" cannot be read`}>
        <p>{failureText(error)}</p>
      </Notice>
    )
  }
  return (
    <Notice>
      <p>
        {'With the ensemble, inputs, tags, options and budget of run '}
        <a href={runHref(runId)}>{runId}</a>
        {isOwn
          ? '. It had tasks of its own, which the server does not tell; those of the ensemble are here.'
          : '. Changes that it made in the tasks are not told by the server.'}
      </p>
    </Notice>
  )
}
