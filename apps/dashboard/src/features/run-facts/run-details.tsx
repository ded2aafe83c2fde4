/** What a run was asked to do, and the rest that is known of it. */
import { useQuery } from '@tanstack/react-query'
import { type RunState, type FileChangeState, isTerminalRunStatus } from '@tutti/protocol'
import { RotateCcw, Trash2 } from 'lucide-react'
import { useState, type ReactNode } from 'react'

import { formatDuration, formatClock, plural, UNKNOWN } from '../../lib/format.ts'
import { Ago } from '../../ui/show/time.tsx'
import { CopyButton, Text } from '../../ui/show/text.tsx'
import { failureText } from '../../api/failure.ts'
import { useServer } from '../../api/server.ts'
import { Button, LinkButton } from '../../ui/controls/button.tsx'
import { Loading, Notice } from '../../ui/feedback/notice.tsx'
import { JsonView } from '../../ui/show/json-view.tsx'
import { submitHref } from '../../api/links.ts'
import { useMissingScope } from '../../api/use-identity.ts'
import { cx } from '../../lib/cx.ts'
import { DeleteRun } from './delete-run.tsx'
import styles from './run-details.module.css'

const WORKFLOWS: Readonly<Record<NonNullable<RunState['workflow']>, string>> = {
  SEQUENTIAL: 'One task after the other',
  PARALLEL: 'Each task as soon as those it needs are done',
  HIERARCHICAL: 'A manager hands work to others',
}

/** Inputs, tags, ids, times, files; without `runId` it is out of a file. */
export function RunDetails({
  state,
  runId,
}: {
  readonly state: RunState
  readonly runId: string | undefined
}) {
  const inputs = Object.entries(state.inputs)
  const tags = Object.entries(state.tags)
  return (
    <div className={styles['details']} role="group" aria-label="Details" tabIndex={0}>
      {runId !== undefined && <RunActions runId={runId} state={state} />}
      <Facts title="Inputs">
        {inputs.length === 0 && <p className={styles['soft']}>It was given none</p>}
        {inputs.map(([name, value]) => (
          <Fact key={name} name={name} isOwn>
            <span className={styles['input']}>
              <Text>{value}</Text>
              <CopyButton text={value} label={`Copy input ${name}`} />
            </span>
          </Fact>
        ))}
      </Facts>
      <Facts title="Run">
        <Fact name="Ensemble">{state.ensemble}</Fact>
        <Fact name="Order of work">
          {state.workflow === undefined ? undefined : WORKFLOWS[state.workflow]}
        </Fact>
        <Fact name="Tags">
          {tags.length === 0 ? undefined : tags.map((tag) => tag.join(': ')).join(', ')}
        </Fact>
        <Id name="Run id" id={runId} />
        <Id name="Id in the work" id={state.id === runId ? undefined : state.id} />
        <Fact name="Resumed">
          {state.epoch === undefined ? undefined : `Claimed ${state.epoch} times`}
        </Fact>
      </Facts>
      <Times state={state} />
      <ModelsUsed state={state} />
      {runId !== undefined && <Submission runId={runId} />}
      <ChangedFiles files={state.changedFiles} />
    </div>
  )
}

function Times({
  state: { queuedAt, startedAt, completedAt, durationMs },
}: {
  readonly state: RunState
}) {
  return (
    <Facts title="Times">
      <Instant name="Accepted" at={queuedAt} />
      <Instant name="Begun" at={startedAt} />
      <Instant name="Ended" at={completedAt} />
      <Fact name="Took">{durationMs === undefined ? undefined : formatDuration(durationMs)}</Fact>
    </Facts>
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

/** Every change, in order; nothing when there is none. */
function ChangedFiles({ files }: { readonly files: readonly FileChangeState[] }) {
  if (files.length === 0) return null
  return (
    <Facts title="Changed files">
      <ol className={styles['files']}>
        {files.map((file, at) => (
          // A run only gains changes.
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

/** The models by task, and what was switched. */
function ModelsUsed({ state: { tasks, model } }: { readonly state: RunState }) {
  const asked = tasks.filter(({ turns, model: own }) => turns.length > 0 || own !== undefined)
  if (asked.length === 0 && model === undefined) return null
  return (
    <Facts title="Models">
      <Fact name="The run">{model === undefined ? undefined : `switched to ${model}`}</Fact>
      {asked.map(({ name, turns, model: own }) => (
        <Fact key={name} name={name} isOwn>
          {[
            ...countsOf(turns.map((turn) => turn.model)),
            ...(own === undefined ? [] : [`switched to ${own}`]),
          ].join(', ')}
        </Fact>
      ))}
    </Facts>
  )
}

/** `small: 3 calls`, in the order in which they were asked first. */
function countsOf(models: readonly string[]): readonly string[] {
  return [...new Set(models)].map((model) => {
    const count = models.filter((one) => one === model).length
    return `${model}: ${plural(count, 'call')}`
  })
}

/** Who submitted the run, with which options, and who is told of it. */
function Submission({ runId }: { readonly runId: string }) {
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

/** The actions; a run that has ended has `Run again` at the head of the page, and only such a one can be deleted. */
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
          <LinkButton href={submitHref(runId)} icon={<RotateCcw />}>
            Run again…
          </LinkButton>
          <span className={styles['runActionsSoft']}>It can be deleted when it has ended.</span>
        </>
      )}
      {isAsking && <DeleteRun runId={runId} onClose={() => setAsking(false)} />}
    </div>
  )
}

/** A part; its children are `Fact`s, or words where there is none. */
function Facts({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section aria-label={title} className={styles['part']}>
      <h3>{title}</h3>
      <div className={styles['factsFacts']}>{children}</div>
    </section>
  )
}

/** A fact; nothing when it is not known. */
function Fact({
  name,
  isOwn = false,
  children,
}: {
  readonly name: string
  /** Whether the name is somebody's own and is written as it is. */
  readonly isOwn?: boolean
  readonly children: ReactNode
}) {
  if (children === undefined || children === null) return null
  return (
    <dl className={styles['fact']}>
      <dt className={cx(styles['name'], isOwn && styles['own'])}>{name}</dt>
      <dd>{children}</dd>
    </dl>
  )
}
