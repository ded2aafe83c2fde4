/** A run as a graph, a timeline and the details of one task: live, replayed, or from a file. */
import {
  lazy,
  memo,
  Suspense,
  useCallback,
  useMemo,
  useState,
  type ReactNode,
  type ComponentProps,
} from 'react'
import { ChevronDown, ChevronUp } from 'lucide-react'

import { linkToRun, type RunLocation } from '../api/links.ts'
import { useMissingScope } from '../api/use-identity.ts'
import { CostsView } from '../features/costs/costs-view.tsx'
import { EventLogView } from '../features/event-log/event-log.tsx'
import { TaskGraph } from '../features/graph/task-graph.tsx'
import { RunDetails } from '../features/run-facts/run-details.tsx'
import { SteeringLog } from '../features/steering/steering-log.tsx'
import { TaskTranscript } from '../features/transcript/task-transcript.tsx'
import { goTo } from '../lib/router.ts'
import { Tabs, type Tab } from '../ui/controls/tabs.tsx'
import { Panel } from '../ui/layout/panel.tsx'
import { Timeline } from '../features/timeline/timeline.tsx'
import { createStore, useStore } from '../lib/store.ts'
import { IconButton } from '../ui/controls/button.tsx'
import { useGroupViews } from './use-group-views.ts'
import styles from './run-view.module.css'

import type { RunState } from '@tutti/protocol'
import type { TaskState } from '@tutti/protocol/internal'

import type { ForkStart } from '../features/fork/fork-form.ts'
import type { FollowedLog } from '../api/run-log.ts'
import type { Selection } from '../api/selection.ts'

type TabName = 'work' | 'events' | 'costs' | 'steering' | 'details'

const TABS: readonly Tab<TabName>[] = [
  { value: 'work', label: 'Work' },
  { value: 'events', label: 'Events' },
  { value: 'costs', label: 'Costs' },
  { value: 'steering', label: 'Steering' },
  { value: 'details', label: 'Details' },
]

interface RunViewProps {
  readonly state: RunState
  readonly query: Readonly<Record<string, string>>
  readonly runId?: string
  /** Undefined for a file without events. */
  readonly log?: FollowedLog
  /** Number of events shown; undefined for all of them. */
  readonly position?: number | undefined
}

/** The parts of a run. Without `runId` it is a file, which has no URL. */
export const RunView = memo(function RunView({ state, query, runId, log, position }: RunViewProps) {
  const [location, setLocation] = useRunLocation(runId, query)
  const tabs = log === undefined ? TABS.filter(({ value }) => value !== 'events') : TABS
  const tab = tabs.find(({ value }) => value === location.tab)?.value ?? 'work'
  const taskName = chooseTask(state, location.task)
  const selection = useMemo(() => toSelection(taskName, location), [taskName, location])
  const select = useCallback(
    ({ taskName: task, iterationIndex, toolCallId }: Selection) =>
      setLocation({ task, turn: iterationIndex?.toString(), call: toolCallId }),
    [setLocation],
  )
  const groups = useGroupViews(state, location.task)
  const [forkStart, setForkStart] = useState<ForkStart>()
  const missing = useMissingScope('runs:write')
  // The results of a replay are recorded in the run that it replays, which can be forked.
  const canFork =
    runId !== undefined &&
    log !== undefined &&
    missing === undefined &&
    log.state.parent?.replay === undefined
  const panels: Readonly<Record<TabName, () => ReactNode>> = {
    work: () => (
      <TaskTranscript
        state={state}
        selection={selection}
        onSelect={select}
        onFork={canFork ? setForkStart : undefined}
      />
    ),
    events: () => log !== undefined && <EventLogView log={log} position={position} />,
    costs: () => <CostsView state={state} />,
    steering: () => <SteeringLog state={state} log={log} />,
    details: () => <RunDetails state={state} runId={runId} />,
  }
  return (
    <div className={styles['view']}>
      <Panel title="Tasks" flush className={styles['tasks']}>
        <TaskGraph
          state={state}
          selected={taskName}
          onSelect={(task) => select({ taskName: task })}
          {...groups}
        />
      </Panel>
      <TimelinePanel state={state} selection={selection} onSelect={select} log={log} {...groups} />
      <Panel flush className={styles['detail']}>
        <Tabs
          label="Run sections"
          value={tab}
          tabs={tabs}
          onChange={(next) => setLocation({ ...location, tab: next === 'work' ? undefined : next })}
        >
          {panels[tab]()}
        </Tabs>
      </Panel>
      {canFork && forkStart !== undefined && (
        <Suspense fallback={null}>
          <ForkDialog
            runId={runId}
            state={state}
            events={log.events}
            start={forkStart}
            onClose={() => setForkStart(undefined)}
          />
        </Suspense>
      )}
    </div>
  )
})

const ForkDialog = lazy(() =>
  import('../features/fork/fork-dialog.tsx').then((part) => ({ default: part.ForkDialog })),
)

/** Returns the current view position and its setter: in the URL for a run, in memory for a file. */
function useRunLocation(
  runId: string | undefined,
  query: RunLocation,
): readonly [RunLocation, (location: RunLocation) => void] {
  const [local, setLocal] = useState<RunLocation>({})
  const setAddress = useCallback(
    (location: RunLocation) =>
      goTo(linkToRun(runId ?? '', { ...location, at: query.at }), { replace: true }),
    [runId, query.at],
  )
  return runId === undefined ? [local, setLocal] : [query, setAddress]
}

function toSelection(
  taskName: string | undefined,
  { turn, call }: RunLocation,
): Selection | undefined {
  if (taskName === undefined) return undefined
  return {
    taskName,
    ...(turn === undefined ? {} : { iterationIndex: Number(turn) }),
    ...(call === undefined ? {} : { toolCallId: call }),
  }
}

/**
 * Returns the task that the reader chose, or the most relevant one: with an open review, running,
 * failed, or completed last.
 */
function chooseTask({ tasks, reviews }: RunState, chosen: string | undefined): string | undefined {
  if (tasks.some(({ name }) => name === chosen)) return chosen
  const held = reviews.find(({ status }) => status === 'OPEN')?.taskName
  const inState = (status: TaskState['status']): string | undefined =>
    tasks.findLast((task) => task.status === status)?.name
  return held ?? inState('RUNNING') ?? inState('FAILED') ?? inState('COMPLETED') ?? tasks[0]?.name
}

/** Key in the local storage. */
const STORAGE_KEY = 'tutti.timeline'

/** Whether the timeline is collapsed, for every run shown on this page. */
const folded = createStore(localStorage.getItem(STORAGE_KEY) === 'folded')

function TimelinePanel(props: ComponentProps<typeof Timeline>) {
  const isFolded = useStore(folded)
  const name = isFolded ? 'Expand timeline' : 'Collapse timeline'
  return (
    <Panel
      title="Timeline"
      flush
      className={isFolded ? styles['folded'] : styles['timeline']}
      actions={
        <IconButton
          label={name}
          icon={isFolded ? <ChevronDown /> : <ChevronUp />}
          aria-expanded={!isFolded}
          onClick={() => fold(!isFolded)}
        />
      }
    >
      {!isFolded && <Timeline {...props} />}
    </Panel>
  )
}

function fold(isFolded: boolean): void {
  folded.set(isFolded)
  if (isFolded) localStorage.setItem(STORAGE_KEY, 'folded')
  else localStorage.removeItem(STORAGE_KEY)
}
