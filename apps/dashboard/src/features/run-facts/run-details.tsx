/** What a run was asked to do, and the rest that is known of it. */
import { formatDuration } from '../../lib/format.ts'
import { Ago } from '../../ui/show/time.tsx'
import { CopyButton, Text } from '../../ui/show/text.tsx'
import { ChangedFiles } from './changed-files.tsx'
import { Fact, Facts } from './facts.tsx'
import { ModelsUsed } from './models-used.tsx'
import { RunActions } from './run-actions.tsx'
import styles from './run-details.module.css'
import { Submission } from './submission.tsx'

import type { RunState } from '@tutti/protocol'

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
