/** What people did with a run, and when it took effect. */
import { MessageSquare, Repeat2, Square } from 'lucide-react'
import { memo, useContext, useMemo, type ReactNode } from 'react'

import { formatClock, formatInstant, UNKNOWN } from '../../lib/format.ts'
import { ShownTime } from '../../lib/use-now.ts'
import { Empty } from '../../ui/feedback/notice.tsx'
import { Mark } from '../../ui/show/mark.tsx'
import { CancelActView } from './cancel-act.tsx'
import { DirectiveActView } from './directive-act.tsx'
import { ReviewActView } from './review-act.tsx'
import { steeringActs, type SteeringAct } from './steering-entries.ts'
import { SwitchActView } from './switch-act.tsx'
import styles from './steering-log.module.css'

import type { RunLog } from '../../api/run-log.ts'
import type { RunState } from '@tutti/protocol'

/** Directives, model switches, decisions and cancels, newest last; with `log` also who and when. */
export function SteeringLog({
  state,
  log,
}: {
  readonly state: RunState
  readonly log?: RunLog | undefined
}) {
  const until = useContext(ShownTime)
  const acts = useMemo(() => steeringActs(state, log, until), [state, log, until])
  if (acts.length === 0) {
    return (
      <Empty title="Nobody has steered this run">
        Directives, model switches, reviews and cancels are listed here, with the moment at which
        each took effect.
      </Empty>
    )
  }
  return (
    // What scrolls can be scrolled with the keyboard.
    <ol className={styles['log']} aria-label="What people did" tabIndex={0}>
      {acts.map((act) => (
        <ActRow key={act.key} act={act} isOver={state.durationMs !== undefined} />
      ))}
    </ol>
  )
}

const ActRow = memo(function ActRow({
  act,
  isOver,
}: {
  readonly act: SteeringAct
  readonly isOver: boolean
}) {
  const { at } = act
  return (
    <li className={styles['act']}>
      <time
        className={styles['at']}
        dateTime={at === undefined ? undefined : new Date(at).toISOString()}
        title={at === undefined ? undefined : formatInstant(at)}
      >
        {/* A directive does not say when it was given, only what came before it. */}
        {act.kind === 'directive' && at !== undefined && <small>after </small>}
        {at === undefined ? UNKNOWN : formatClock(at).slice(0, 8)}
      </time>
      <span className={styles['icon']}>{iconOf(act)}</span>
      <div className={styles['body']}>{viewOf(act, isOver)}</div>
    </li>
  )
}, isSameRow)

/** Acts are made anew with each event; a row is drawn again only when it says something else. */
function isSameRow(
  one: { readonly act: SteeringAct; readonly isOver: boolean },
  other: { readonly act: SteeringAct; readonly isOver: boolean },
): boolean {
  return one.isOver === other.isOver && JSON.stringify(one.act) === JSON.stringify(other.act)
}

function iconOf(act: SteeringAct): ReactNode {
  switch (act.kind) {
    case 'directive':
      return <MessageSquare aria-hidden />
    case 'switch':
      return <Repeat2 aria-hidden />
    case 'cancel':
      return <Square aria-hidden />
    case 'review':
      return <Mark kind="held" />
  }
}

function viewOf(act: SteeringAct, isOver: boolean): ReactNode {
  switch (act.kind) {
    case 'directive':
      return <DirectiveActView act={act} isOver={isOver} />
    case 'switch':
      return <SwitchActView act={act} isOver={isOver} />
    case 'cancel':
      return <CancelActView act={act} />
    case 'review':
      return <ReviewActView act={act} />
  }
}
