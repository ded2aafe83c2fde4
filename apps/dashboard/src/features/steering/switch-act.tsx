/** A switch of the model in the list of what people did. */
import { formatDuration } from '../../lib/format.ts'
import styles from './steering-log.module.css'

import type { SwitchAct } from './steering-entries.ts'

/** From which model to which, and the first call that went to it. */
export function SwitchActView({
  act,
  isOver,
}: {
  readonly act: SwitchAct
  readonly isOver: boolean
}) {
  const { by, model, previousModel, taskName, tier, rule } = act
  return (
    <>
      <p>
        <b>{by ?? (rule === undefined ? 'Somebody' : 'A rule')}</b>
        {` switched ${taskName ?? 'the whole run'} `}
        {previousModel !== undefined && (
          <>
            from <code>{previousModel}</code>
          </>
        )}
        {' to '}
        <code>{model}</code>
        <span className={styles['soft']}>
          {tier === undefined ? '' : ` · tier ${tier}`}
          {rule === undefined ? '' : ` · ${rule}`}
        </span>
      </p>
      {act.at !== undefined && (
        <p className={act.firstCall === undefined ? styles['pending'] : styles['effect']}>
          {effectOf(act, isOver)}
        </p>
      )}
    </>
  )
}

function effectOf({ at = 0, firstCall }: SwitchAct, isOver: boolean): string {
  if (firstCall === undefined) {
    return isOver ? 'No model call went to it' : 'The next model call goes to it'
  }
  const { taskName, iterationIndex, attempt, model } = firstCall
  const again = attempt > 1 ? ` of attempt ${attempt}` : ''
  const after = formatDuration(Math.max(0, firstCall.at - at))
  return `In effect for ${taskName} at model call ${iterationIndex + 1}${again} (${model}), ${after} after`
}
