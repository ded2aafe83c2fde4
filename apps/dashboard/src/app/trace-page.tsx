/** The page that shows a trace file as a run. Files with events can be replayed. */
import { useMemo, useState } from 'react'

import { computeStateAfter, type FollowedLog } from '../api/run-log.ts'
import { ReplayBar } from '../features/replay/replay-bar.tsx'
import { TraceFile } from '../features/trace-files/trace-file.tsx'
import { ShownTime } from '../lib/use-now.ts'
import { RunView } from './run-view.tsx'

import type { RunState } from '@tutti/protocol'

/** A file has no URL, so its view position is kept in memory. */
const NO_PLACE = {}

export function TracePage() {
  return (
    <TraceFile>
      {(state, log) => (log === undefined ? <Shown state={state} /> : <Replayed log={log} />)}
    </TraceFile>
  )
}

/** A file without events. Its time stands at the end of the run. */
function Shown({ state }: { readonly state: RunState }) {
  const end = state.completedAt ?? state.startedAt
  return (
    <ShownTime value={end === undefined ? undefined : Date.parse(end)}>
      <RunView state={state} query={NO_PLACE} />
    </ShownTime>
  )
}

function Replayed({ log }: { readonly log: FollowedLog }) {
  const [position, setPosition] = useState<number>()
  const state = useMemo(
    () => (position === undefined ? log.state : computeStateAfter(log, position)),
    [log, position],
  )
  const at = log.instants[(position ?? log.events.length) - 1]
  return (
    <ShownTime value={at}>
      <RunView state={state} query={NO_PLACE} log={log} position={position} />
      <ReplayBar log={log} position={position} onChange={setPosition} />
    </ShownTime>
  )
}
