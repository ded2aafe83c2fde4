/** One run, followed live, or replayed up to any of its events. */
import { useMemo, useState } from 'react'

import { failureCode, failureText } from '../api/failure.ts'
import { runsHref } from '../api/links.ts'
import { emptyRunLog, stateAfter } from '../api/run-log.ts'
import { useRunFeed } from '../api/use-run-feed.ts'
import { RunHeader } from '../features/run-facts/run-header.tsx'
import { ReplayBar } from '../features/replay/replay-bar.tsx'
import { GatePanels } from '../features/reviews/gate-panels.tsx'
import { SteerBar } from '../features/steering/steer-bar.tsx'
import { ExportTrace } from '../features/trace-files/export-trace.tsx'
import { createStore } from '../lib/store.ts'
import { ShownTime } from '../lib/use-now.ts'
import { useStore } from '../lib/use-store.ts'
import { LinkButton } from '../ui/controls/button.tsx'
import { Empty, Loading } from '../ui/feedback/notice.tsx'
import { RunView } from './run-view.tsx'
import styles from './run-page.module.css'

import type { RunFeedState } from '../api/run-feed.ts'

const NOT_BEGUN = createStore<RunFeedState>({ log: emptyRunLog(), connection: 'connecting' })

/** The page of a run; `query` says what of it is shown. */
export function RunPage({
  runId,
  query,
}: {
  readonly runId: string
  readonly query: Readonly<Record<string, string>>
}) {
  const { log, connection, error } = useStore(useRunFeed(runId) ?? NOT_BEGUN)
  /** How many events are shown; undefined is all of them, as they come. */
  const [position, setPosition] = useState<number>()
  const state = useMemo(
    () => (position === undefined ? log.state : stateAfter(log, position)),
    [log, position],
  )
  if (log.events.length === 0) {
    if (error !== undefined) return <NoRun runId={runId} error={error} />
    return <Loading label="Reading the run" />
  }
  const shownTime = position === undefined ? undefined : log.instants[position - 1]
  const isReplay = position !== undefined
  return (
    <ShownTime value={shownTime}>
      <div className={styles['page']}>
        <RunHeader runId={runId} state={state} connection={connection} isReplay={isReplay}>
          <SteerBar runId={runId} state={log.state} />
          <ExportTrace runId={runId} log={log} />
        </RunHeader>
        {!isReplay && <GatePanels runId={runId} state={log.state} />}
        <RunView state={state} query={query} runId={runId} log={log} />
        <ReplayBar log={log} position={position} onChange={setPosition} />
      </div>
    </ShownTime>
  )
}

function NoRun({ runId, error }: { readonly runId: string; readonly error: unknown }) {
  const isUnknown = failureCode(error) === 'RUN_NOT_FOUND'
  return (
    <Empty
      title={isUnknown ? `There is no run "${runId}"` : 'This run cannot be read'}
      actions={<LinkButton href={runsHref()}>To the runs</LinkButton>}
    >
      {isUnknown ? 'It may have been deleted, or was kept no longer.' : failureText(error)}
    </Empty>
  )
}
