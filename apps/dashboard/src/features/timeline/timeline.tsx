/** Shows the work of a run over time, as rows of tasks with their calls. */
import { useContext, useMemo, useRef } from 'react'

import { ShownTime, useNow } from '../../lib/use-now.ts'
import { Empty } from '../../ui/feedback/notice.tsx'
import { extendHistory, NO_HISTORY } from './history.ts'
import { createSheet } from './scale.ts'
import { Score } from './score.tsx'
import { buildTimeline, type TimelineModel } from './timeline-model.ts'

import type { FollowedLog } from '../../api/run-log.ts'
import type { Selection } from '../../api/selection.ts'
import type { GroupedTasks, GroupView, GroupViews } from '../../api/task-groups.ts'
import type { RunState } from '@tutti/protocol'

interface TimelineProps {
  readonly state: RunState
  readonly selection: Selection | undefined
  readonly onSelect: (selection: Selection) => void
  readonly log?: FollowedLog | undefined
  readonly grouped: GroupedTasks
  readonly views: GroupViews
  readonly onView: (groupName: string, view: GroupView) => void
}

/**
 * The timeline of a run. `log` adds earlier attempts and marks, and whether the run may continue.
 */
export function Timeline({ state, selection, onSelect, log, ...groups }: TimelineProps) {
  const shownMs = useContext(ShownTime)
  const { grouped, views, onView } = groups
  const model = useModel(state, { log, untilMs: shownMs, grouped, views })
  const { startMs, lastMs, isOver } = model
  const isLive = log !== undefined && shownMs === undefined && !isOver
  const tickMs = useNow(isLive)
  // An event may be newer than the last tick of the clock; the edge must not go back.
  const nowMs = isLive ? Math.max(tickMs, lastMs) : (shownMs ?? lastMs)
  // A replay moves over the sheet of the whole run.
  const endMs = Math.max(
    nowMs,
    lastMs,
    (shownMs === undefined ? undefined : log?.instants.at(-1)) ?? 0,
  )
  const isGrowing = isLive || (log !== undefined && !isComplete(log))
  const sheet = useMemo(() => {
    return startMs === undefined
      ? undefined
      : createSheet({ startMs, lastMs: endMs }, { isGrowing })
  }, [startMs, endMs, isGrowing])
  const { startMs: sheetStart = 0, endMs: sheetEnd = 1 } = sheet ?? {}
  // The sheet of an active run stays the same between its steps.
  const stableSheet = useMemo(
    () => ({ startMs: sheetStart, endMs: sheetEnd }),
    [sheetStart, sheetEnd],
  )
  if (sheet === undefined) return <Empty title="Nothing started yet" />
  return (
    <Score
      model={model}
      sheet={stableSheet}
      nowMs={nowMs}
      playhead={isLive ? 'live' : shownMs === undefined ? 'none' : 'shown'}
      selection={selection}
      onSelect={onSelect}
      onView={onView}
    />
  )
}

/** Whether the log contains the end of its run. */
function isComplete({ events }: FollowedLog): boolean {
  return events.at(-1)?.type === 'run_result'
}

/** Returns the model of the run, reusing unchanged rows. */
function useModel(
  state: RunState,
  {
    log,
    untilMs,
    grouped,
    views,
  }: Pick<TimelineProps, 'log' | 'grouped' | 'views'> & { readonly untilMs: number | undefined },
): TimelineModel {
  const history = useRef(NO_HISTORY)
  const before = useRef<TimelineModel>(undefined)
  return useMemo(() => {
    history.current = log === undefined ? NO_HISTORY : extendHistory(history.current, log)
    const groups = { grouped, views }
    const parts = { history: history.current, untilMs, before: before.current, groups }
    before.current = buildTimeline(state, parts)
    return before.current
  }, [state, log, untilMs, grouped, views])
}
