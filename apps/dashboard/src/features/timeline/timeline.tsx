/** When what was at work: the tasks of a run as staves of a score, their work as notes. */
import { useContext, useMemo, useRef } from 'react'

import { ShownTime, useNow } from '../../lib/use-now.ts'
import { Empty } from '../../ui/feedback/notice.tsx'
import { historyAfter, NO_HISTORY } from './history.ts'
import { sheetOf } from './scale.ts'
import { Score } from './score.tsx'
import { timelineOf, type TimelineModel } from './timeline-model.ts'

import type { FollowedLog } from '../../api/run-log.ts'
import type { Selection } from '../../api/selection.ts'
import type { RunState } from '@tutti/protocol'

/** The timeline of a run; `log` tells more of it than its state, and that it may go on. */
export function Timeline({
  state,
  selection,
  onSelect,
  log,
}: {
  readonly state: RunState
  readonly selection: Selection | undefined
  readonly onSelect: (selection: Selection) => void
  readonly log?: FollowedLog | undefined
}) {
  const shownMs = useContext(ShownTime)
  const model = useModel(state, log, shownMs)
  const { startMs, lastMs, isOver } = model
  const isLive = log !== undefined && shownMs === undefined && !isOver
  const tickMs = useNow(isLive)
  // An event may be newer than the last tick of the clock; the edge never goes back.
  const nowMs = isLive ? Math.max(tickMs, lastMs) : (shownMs ?? lastMs)
  // A replay moves over the sheet of the whole run.
  const endMs = Math.max(
    nowMs,
    lastMs,
    (shownMs === undefined ? undefined : log?.instants.at(-1)) ?? 0,
  )
  const isGrowing = isLive || (log !== undefined && !isTold(log))
  const sheet = useMemo(() => {
    return startMs === undefined ? undefined : sheetOf({ startMs, lastMs: endMs }, { isGrowing })
  }, [startMs, endMs, isGrowing])
  const { startMs: sheetStart = 0, endMs: sheetEnd = 1 } = sheet ?? {}
  // The sheet of a run that goes on is the same for a while.
  const kept = useMemo(() => ({ startMs: sheetStart, endMs: sheetEnd }), [sheetStart, sheetEnd])
  if (sheet === undefined) return <Empty title="Nothing has begun yet" />
  return (
    <Score
      model={model}
      sheet={kept}
      nowMs={nowMs}
      playhead={isLive ? 'live' : shownMs === undefined ? 'none' : 'shown'}
      selection={selection}
      onSelect={onSelect}
    />
  )
}

/** Whether the log has the end of its run. */
function isTold({ events }: FollowedLog): boolean {
  return events.at(-1)?.type === 'run_result'
}

/** The model of the run; rows that have not changed are kept. */
function useModel(
  state: RunState,
  log: FollowedLog | undefined,
  untilMs: number | undefined,
): TimelineModel {
  const history = useRef(NO_HISTORY)
  const before = useRef<TimelineModel>(undefined)
  return useMemo(() => {
    history.current = log === undefined ? NO_HISTORY : historyAfter(history.current, log)
    const parts = { history: history.current, untilMs, before: before.current }
    before.current = timelineOf(state, parts)
    return before.current
  }, [state, log, untilMs])
}
