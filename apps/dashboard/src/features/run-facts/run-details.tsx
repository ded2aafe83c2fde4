/** Shows the inputs and metadata of a run. */
import { useQuery } from '@tanstack/react-query'
import { type RunState, isTerminalRunStatus } from '@tutti/protocol'
import type { FileChangeState, TaskState } from '@tutti/protocol/internal'
import { RotateCcw, Trash2 } from 'lucide-react'
import { useState, type ReactNode } from 'react'

import { formatDuration, formatClock, formatPlural, UNKNOWN } from '../../lib/format.ts'
import { Ago } from '../../ui/show/time.tsx'
import { CopyButton, Text } from '../../ui/show/text.tsx'
import { readFailureText } from '../../api/failure.ts'
import { useServer } from '../../api/server.ts'
import { Button, LinkButton } from '../../ui/controls/button.tsx'
import { Loading, Notice } from '../../ui/feedback/notice.tsx'
import { JsonView } from '../../ui/show/json-view.tsx'
import { linkToSubmit } from '../../api/links.ts'
import { useMissingScope } from '../../api/use-identity.ts'
import { cx } from '../../lib/cx.ts'
import { DeleteRun } from './delete-run.tsx'
import page from '../../ui/layout/page.module.css'
import styles from './run-details.module.css'

const WORKFLOWS: Readonly<Record<NonNullable<RunState['workflow']>, string>> = {
  SEQUENTIAL: 'One task after another',
  PARALLEL: 'Each task when its dependencies are complete',
  HIERARCHICAL: 'A manager delegates work',
}

interface RunDetailsProps {
  readonly state: RunState
  readonly runId: string | undefined
}

/** Inputs, tags, ids, times and files. Without `runId` the run is from a file. */
export function RunDetails({ state, runId }: RunDetailsProps) {
  const { inputs, ensemble, workflow, tags, id, epoch, queuedAt, startedAt, completedAt } = state
  const tagTexts = Object.entries(tags).map((tag) => tag.join(': '))
  return (
    <div
      className={cx(page['scroll'], styles['details'])}
      role="group"
      aria-label="Details"
      tabIndex={0}
    >
      {runId !== undefined && <RunActions runId={runId} state={state} />}
      <Facts title="Inputs">
        {Object.keys(inputs).length === 0 && <p className={styles['soft']}>None</p>}
        {Object.entries(inputs).map(([name, value]) => (
          <Fact key={name} name={name} isOwn>
            <span className={styles['input']}>
              <Text>{value}</Text>
              <CopyButton text={value} label={`Copy input ${name}`} />
            </span>
          </Fact>
        ))}
      </Facts>
      <Facts title="Run">
        <Fact name="Ensemble">{ensemble}</Fact>
        <Fact name="Workflow">{workflow && WORKFLOWS[workflow]}</Fact>
        <Fact name="Tags">{tagTexts.length === 0 ? undefined : tagTexts.join(', ')}</Fact>
        <Id name="Run id" id={runId} />
        <Id name="Ensemble id" id={id === runId ? undefined : id} />
        <Fact name="Claimed">{epoch && formatPlural(epoch, 'time')}</Fact>
      </Facts>
      <Facts title="Times">
        <Instant name="Accepted" at={queuedAt} />
        <Instant name="Started" at={startedAt} />
        <Instant name="Ended" at={completedAt} />
        <Fact name="Duration">
          {state.durationMs === undefined ? undefined : formatDuration(state.durationMs)}
        </Fact>
      </Facts>
      <ModelsUsed state={state} />
      {runId !== undefined && <Submission runId={runId} />}
      <ChangedFiles files={state.changedFiles} />
    </div>
  )
}

function Instant({ name, at }: { readonly name: string; readonly at: string | undefined }) {
  if (at === undefined) return null
  return (
    <Fact name={name}>
      {at.replace('T', ' ').replace('Z', ' UTC')} (<Ago at={at} />)
    </Fact>
  )
}

function Id({ name, id }: { readonly name: string; readonly id: string | undefined }) {
  if (id === undefined) return null
  return (
    <Fact name={name}>
      <span className={styles['id']}>
        <code>{id}</code>
        <CopyButton text={id} label={`Copy ${name.toLowerCase()}`} />
      </span>
    </Fact>
  )
}

const CHANGES: Readonly<Record<FileChangeState['changeType'], string>> = {
  CREATED: 'created',
  MODIFIED: 'modified',
  DELETED: 'deleted',
}

/** All file changes, in order; hidden if there are none. */
function ChangedFiles({ files }: { readonly files: readonly FileChangeState[] }) {
  if (files.length === 0) return null
  return (
    <Facts title="Changed files">
      <ol className={styles['files']}>
        {files.map((file, at) => (
          // Changes are only appended, so the index is stable.
          <li key={`${at}-${file.filePath}`}>
            <code className={styles['path']}>{file.filePath}</code>
            <span className={styles['facts']}>
              {CHANGES[file.changeType]} by {file.agentRole} +{file.linesAdded} −{file.linesRemoved}{' '}
              {formatClock(Date.parse(file.timestamp))}
            </span>
          </li>
        ))}
      </ol>
    </Facts>
  )
}

/** The models of each task, and model switches. */
function ModelsUsed({ state: { tasks, model } }: { readonly state: RunState }) {
  const asked = tasks.filter(({ turns, model: own }) => turns.length > 0 || own !== undefined)
  if (asked.length === 0 && model === undefined) return null
  return (
    <Facts title="Models">
      <Fact name="Run">{model === undefined ? undefined : `switched to ${model}`}</Fact>
      {asked.map(({ name, turns, model: own }) => (
        <Fact key={name} name={name} isOwn>
          {[...countCalls(turns), ...(own === undefined ? [] : [`switched to ${own}`])].join(', ')}
        </Fact>
      ))}
    </Facts>
  )
}

/** Counts calls by model, such as `small: 3 calls`, in order of first use. */
function countCalls(turns: TaskState['turns']): readonly string[] {
  const byModel = Map.groupBy(turns, ({ model }) => model)
  return [...byModel].map(([model, calls]) => `${model}: ${formatPlural(calls.length, 'call')}`)
}

/** The submitter, options and webhooks of the run. */
function Submission({ runId }: { readonly runId: string }) {
  const { client } = useServer()
  const { data, error, refetch } = useQuery({
    queryKey: ['run', runId],
    queryFn: ({ signal }) => client.runs.get(runId, { signal }),
  })
  return (
    <Facts title="Submission">
      {data === undefined && error === null && <Loading label="Loading submission" />}
      {error !== null && (
        <Notice
          tone="failed"
          title="Failed to load the submission"
          actions={<Button onClick={() => void refetch()}>Try again</Button>}
        >
          {readFailureText(error)}
        </Notice>
      )}
      {data !== undefined && (
        <>
          <Fact name="Submitted by">{data.submittedBy ?? UNKNOWN}</Fact>
          <Fact name="Build">{data.build ?? UNKNOWN}</Fact>
          <Fact name="Waits for build">{data.resumableBy?.join(' or ')}</Fact>
          <Fact name="Webhooks">{data.webhooks?.join(', ') ?? 'none'}</Fact>
          <Fact name="Options">
            {data.options && <JsonView value={data.options} label="options" />}
            {data.options === undefined && 'ensemble defaults'}
          </Fact>
          <Fact name="Budget">
            {data.budget && <JsonView value={data.budget} label="budget" />}
            {data.budget === undefined && 'ensemble default'}
          </Fact>
        </>
      )}
    </Facts>
  )
}

/**
 * Actions. For an ended run, `Run again` is in the page header; only an ended run can be deleted.
 */
function RunActions({ runId, state }: { readonly runId: string; readonly state: RunState }) {
  const [isAsking, setAsking] = useState(false)
  const missing = useMissingScope('runs:control')
  return (
    <div role="group" aria-label="Actions" className={styles['actions']}>
      {isTerminalRunStatus(state.status) ? (
        <Button
          kind="danger"
          icon={<Trash2 />}
          disabled={missing !== undefined}
          title={missing}
          onClick={() => setAsking(true)}
        >
          Delete run…
        </Button>
      ) : (
        <>
          <LinkButton href={linkToSubmit(runId)} icon={<RotateCcw />}>
            Run again…
          </LinkButton>
          <span className={styles['small']}>A run can be deleted after it has ended.</span>
        </>
      )}
      {isAsking && <DeleteRun runId={runId} onClose={() => setAsking(false)} />}
    </div>
  )
}

/** A section; its children are `Fact` elements or text. */
function Facts({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section aria-label={title} className={styles['part']}>
      <h3>{title}</h3>
      <div className={styles['factsFacts']}>{children}</div>
    </section>
  )
}

interface FactProps {
  readonly name: string
  /** Whether the name is user-defined and must not be restyled. */
  readonly isOwn?: boolean
  readonly children: ReactNode
}

/** A name and its value; hidden if the value is unknown. */
function Fact({ name, isOwn = false, children }: FactProps) {
  if (children === undefined || children === null) return null
  return (
    <dl className={styles['fact']}>
      <dt className={cx(styles['name'], isOwn && styles['own'])}>{name}</dt>
      <dd>{children}</dd>
    </dl>
  )
}
