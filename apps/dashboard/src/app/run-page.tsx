/** The page of a run, live or replayed up to one of its events. */
import { useDeferredValue, useLayoutEffect, useMemo, useRef, useState } from 'react'

import { findFailureCode, readFailureText } from '../api/failure.ts'
import { linkToRuns, linkToRun } from '../api/links.ts'
import { createRunLog, computeStateAfter, type FollowedLog } from '../api/run-log.ts'
import { useRunFeed, type RunFeedState } from '../api/run-feed.ts'
import { RunHeader } from '../features/run-facts/run-header.tsx'
import { ReplayBar } from '../features/replay/replay-bar.tsx'
import { ReviewPanels } from '../features/reviews/review-panels.tsx'
import { SteerBar } from '../features/steering/steer-bar.tsx'
import { ExportTrace } from '../features/trace-files/export-trace.tsx'
import { createStore, useStore } from '../lib/store.ts'
import { ShownTime } from '../lib/use-now.ts'
import { LinkButton } from '../ui/controls/button.tsx'
import { Empty, Loading } from '../ui/feedback/notice.tsx'
import { goTo } from '../lib/router.ts'
import { RunView } from './run-view.tsx'
import page from '../ui/layout/page.module.css'

import type { LoggedRunEvent, RunState } from '@tutti/protocol'

const NOT_BEGUN = createStore<RunFeedState>({ log: createRunLog(), connection: 'connecting' })

interface RunScreenProps {
  readonly runId: string
  readonly query: Readonly<Record<string, string>>
}

/** The page of a run; `query` selects what it displays. */
export function RunScreen({ runId, query }: RunScreenProps) {
  const { log, connection, error } = useStore(useRunFeed(runId) ?? NOT_BEGUN)
  const [wanted, setPosition] = useReplayPosition(runId, query)
  // A position after the last event is the end, also while events are still loading.
  const position = wanted !== undefined && wanted < log.events.length ? wanted : undefined
  const now = useMoment(log, position)
  // Large parts render deferred, so that buttons, dialogs and the header stay responsive.
  const later = useDeferredValue(now)
  // Without tasks the deferred state would show an empty run that is not empty.
  const shown = later.state.tasks.length === 0 ? now : later
  if (log.events.length === 0) {
    if (error !== undefined) return <RunUnavailable runId={runId} error={error} />
    return <Loading label="Loading run" />
  }
  const isReplay = position !== undefined
  return (
    <div className={page['column']}>
      <ShownTime value={findShownTime(now)}>
        <RunHeader
          runId={runId}
          state={now.state}
          live={log.state}
          connection={connection}
          isReplay={isReplay}
        >
          <SteerBar runId={runId} state={log.state} />
          <ExportTrace runId={runId} log={log} />
        </RunHeader>
        {!isReplay && <ReviewPanels runId={runId} state={log.state} />}
      </ShownTime>
      <ShownTime value={findShownTime(shown)}>
        <RunView {...shown} query={query} runId={runId} />
      </ShownTime>
      <ReplayBar log={log} position={position} onChange={setPosition} />
    </div>
  )
}

/** The displayed state of a run. */
interface RunMoment {
  readonly log: FollowedLog
  /** Number of events shown; undefined to follow all of them live. */
  readonly position: number | undefined
  readonly state: RunState
}

/**
 * Returns the run at a position. Its state stays identical while events arrive after that position.
 */
function useMoment(log: FollowedLog, position: number | undefined): RunMoment {
  const known = useRef<{ readonly last: LoggedRunEvent | undefined; readonly state: RunState }>(
    undefined,
  )
  return useMemo(() => {
    if (position === undefined) return { log, position, state: log.state }
    const last = log.events[position - 1]
    if (last === undefined || known.current?.last !== last) {
      known.current = { last, state: computeStateAfter(log, position) }
    }
    return { log, position, state: known.current.state }
  }, [log, position])
}

/** Returns the time of the last event shown; undefined when the clock applies. */
function findShownTime({ log, position }: RunMoment): number | undefined {
  return position === undefined ? undefined : log.instants[position - 1]
}

function RunUnavailable({ runId, error }: { readonly runId: string; readonly error: unknown }) {
  const isUnknown = findFailureCode(error) === 'RUN_NOT_FOUND'
  return (
    <Empty
      isPage
      title={isUnknown ? `Run "${runId}" not found` : 'Failed to load the run'}
      actions={<LinkButton href={linkToRuns()}>Go to runs</LinkButton>}
    >
      {isUnknown
        ? 'It may have been deleted, manually or by the retention policy.'
        : readFailureText(error)}
    </Empty>
  )
}

/**
 * Time that a position must be stable before it is written to the URL, in milliseconds: browsers
 * limit the rate.
 */
const REST_MS = 300

/**
 * Returns the number of events shown and a function that changes it; undefined follows all of them
 * live. The URL contains it as `at`.
 */
function useReplayPosition(
  runId: string,
  query: Readonly<Record<string, string>>,
): readonly [number | undefined, (position: number | undefined) => void] {
  const { at } = query
  const [position, setPosition] = useState(() => parsePosition(at))
  const [seen, setSeen] = useState(at)
  if (at !== seen) {
    setSeen(at)
    if (at !== position?.toString()) setPosition(parsePosition(at))
  }
  // A layout effect stops the timer of an earlier position as soon as a later one is shown. Otherwise the timer could
  // still write the earlier one, which would return the reader to it.
  useLayoutEffect(() => {
    const next = position?.toString()
    if (next === at) return undefined
    const timer = setTimeout(() => {
      goTo(linkToRun(runId, { ...query, at: next }), { replace: true })
    }, REST_MS)
    return () => clearTimeout(timer)
  }, [runId, query, at, position])
  return [position, setPosition]
}

/** Parses a position in a URL; undefined when it is not a number of events. */
function parsePosition(at: string | undefined): number | undefined {
  return at !== undefined && /^[1-9]\d{0,8}$/.test(at) ? Number(at) : undefined
}
