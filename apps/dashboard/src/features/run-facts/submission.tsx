/** How a run was submitted: what its events do not tell. Asked for once, when it is looked at. */
import { useQuery } from '@tanstack/react-query'

import { failureText } from '../../api/failure.ts'
import { useServer } from '../../api/server.ts'
import { UNKNOWN } from '../../lib/format.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Loading, Notice } from '../../ui/feedback/notice.tsx'
import { JsonView } from '../../ui/show/json-view.tsx'
import { Fact, Facts } from './facts.tsx'

/** Who submitted the run, with which options, and who is told of it. */
export function Submission({ runId }: { readonly runId: string }) {
  const { client } = useServer()
  const { data, error, refetch } = useQuery({
    queryKey: ['run', runId],
    queryFn: ({ signal }) => client.runs.get(runId, { signal }),
  })
  return (
    <Facts title="Submission">
      {data === undefined && error === null && <Loading label="Reading how it was submitted" />}
      {error !== null && (
        <Notice
          tone="failed"
          title="How it was submitted cannot be read"
          actions={<Button onClick={() => void refetch()}>Try again</Button>}
        >
          {failureText(error)}
        </Notice>
      )}
      {data !== undefined && (
        <>
          <Fact name="Submitted by">{data.submittedBy ?? UNKNOWN}</Fact>
          <Fact name="Webhooks">{data.webhooks?.join(', ') ?? 'none'}</Fact>
          <Fact name="Options">
            {data.options === undefined ? (
              'those of the ensemble'
            ) : (
              <JsonView value={data.options} label="the options" />
            )}
          </Fact>
          <Fact name="Budget">
            {data.budget === undefined ? (
              'that of the ensemble'
            ) : (
              <JsonView value={data.budget} label="the budget" />
            )}
          </Fact>
        </>
      )}
    </Facts>
  )
}
