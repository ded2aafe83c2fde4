/** One run, followed live, or replayed up to any of its events. */
import { useDeferredValue, useMemo, useRef, useEffect, useState } from 'react'

import { failureCode, failureText } from '../api/failure.ts'
import { runsHref, runHref } from '../api/links.ts'
import { emptyRunLog, stateAfter, type FollowedLog } from '../api/run-log.ts'
import { useRunFeed, type RunFeedState } from '../api/run-feed.ts'
import { RunHeader } from '../features/run-facts/run-header.tsx'
import { ReplayBar } from '../features/replay/replay-bar.tsx'
import { GatePanels } from '../features/reviews/gate-panels.tsx'
import { SteerBar } from '../features/steering/steer-bar.tsx'
import { ExportTrace } from '../features/trace-files/export-trace.tsx'
import { createStore, useStore } from '../lib/store.ts'
import { ShownTime } from '../lib/use-now.ts'
import { LinkButton } from '../ui/controls/button.tsx'
import { Empty, Loading } from '../ui/feedback/notice.tsx'
import { goTo } from '../lib/router.ts'
import { RunView } from './run-view.tsx'
import styles from './run-page.module.css'

import type { LoggedRunEvent, RunState } from '@tutti/protocol'

const NOT_BEGUN = createStore<RunFeedState>({ log: emptyRunLog(), connection: 'connecting' })

/** The page of a run; `query` says what of it is shown. */
export function RunScreen({
  runId,
  query,
}: {
  readonly runId: string
  readonly query: Readonly<Record<string, string>>
}) {
  const { log, connection, error } = useStore(useRunFeed(runId) ?? NOT_BEGUN)
  const [wanted, setPosition] = useReplayPosition(runId, query)
  // A place after the last event is the end, also while the events are still being read.
  const position = wanted !== undefined && wanted < log.events.length ? wanted : undefined
  const now = useMoment(log, position)
  // What is large follows when there is time; buttons, dialogs and the head never wait for it.
  const later = useDeferredValue(now)
  // As long as there is nothing to see, waiting would show a run without tasks that has some.
  const shown = later.state.tasks.length === 0 ? now : later
  if (log.events.length === 0) {
    if (error !== undefined) return <NoRun runId={runId} error={error} />
    return <Loading label="Reading the run" />
  }
  const isReplay = position !== undefined
  return (
    <div className={styles['page']}>
      <ShownTime value={shownTime(now)}>
        <RunHeader
          runId={runId}
          state={now.state}
          liveStatus={log.state.status}
          connection={connection}
          isReplay={isReplay}
        >
          <SteerBar runId={runId} state={log.state} />
          <ExportTrace runId={runId} log={log} />
        </RunHeader>
        {!isReplay && <GatePanels runId={runId} state={log.state} />}
      </ShownTime>
      <ShownTime value={shownTime(shown)}>
        <RunView {...shown} query={query} runId={runId} />
      </ShownTime>
      <ReplayBar log={log} position={position} onChange={setPosition} />
    </div>
  )
}

/** A run as far as it is shown. */
interface RunMoment {
  readonly log: FollowedLog
  /** How many events are shown; undefined is all of them, as they come. */
  readonly position: number | undefined
  readonly state: RunState
}

/** The run at a place, whose state is the very same while more events come after that place. */
function useMoment(log: FollowedLog, position: number | undefined): RunMoment {
  const known = useRef<{ readonly last: LoggedRunEvent | undefined; readonly state: RunState }>(
    undefined,
  )
  return useMemo(() => {
    if (position === undefined) return { log, position, state: log.state }
    const last = log.events[position - 1]
    if (last === undefined || known.current?.last !== last) {
      known.current = { last, state: stateAfter(log, position) }
    }
    return { log, position, state: known.current.state }
  }, [log, position])
}

/** When the last event was that is shown; undefined as long as the time is that of the clock. */
function shownTime({ log, position }: RunMoment): number | undefined {
  return position === undefined ? undefined : log.instants[position - 1]
}

function NoRun({ runId, error }: { readonly runId: string; readonly error: unknown }) {
  const isUnknown = failureCode(error) === 'RUN_NOT_FOUND'
  return (
    <Empty
      isPage
      title={isUnknown ? `Run "${runId}" not found` : 'This run cannot be read'}
      actions={<LinkButton href={runsHref()}>To the runs</LinkButton>}
    >
      {isUnknown ? 'It may have been deleted, or was kept no longer.' : failureText(error)}
    </Empty>
  )
}

/** Time that a position must rest before it is written to the address, in milliseconds: browsers limit the rate. */
const REST_MS = 300

/**
 * Returns the number of events that are shown, and a function that changes it; undefined is all of them, as they come.
 * The address has it as `at`.
 */
function useReplayPosition(
  runId: string,
  query: Readonly<Record<string, string>>,
): readonly [number | undefined, (position: number | undefined) => void] {
  const { at } = query
  const [position, setPosition] = useState(() => positionOf(at))
  const [seen, setSeen] = useState(at)
  if (at !== seen) {
    setSeen(at)
    if (at !== position?.toString()) setPosition(positionOf(at))
  }
  useEffect(() => {
    const next = position?.toString()
    if (next === at) return undefined
    const timer = setTimeout(() => {
      goTo(runHref(runId, { ...query, at: next }), { replace: true })
    }, REST_MS)
    return () => clearTimeout(timer)
  }, [runId, query, at, position])
  return [position, setPosition]
}

/** A position in an address; undefined when it is not a count of events. */
function positionOf(at: string | undefined): number | undefined {
  return at !== undefined && /^[1-9]\d{0,8}$/.test(at) ? Number(at) : undefined
}
