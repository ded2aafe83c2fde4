/** Shows the readable reasoning of a model call, folded. */
import { cx } from '../../lib/cx.ts'
import { formatCount } from '../../lib/format.ts'
import { Fold } from '../../ui/layout/fold.tsx'
import { GrowingText } from './growing-text.tsx'
import { Prose } from './prose.tsx'
import { toLastLine } from './text-shape.ts'
import styles from './transcript.module.css'

import type { TurnState } from '@tutti/protocol'

/** The reasoning of a turn. While the call runs, its newest line is visible without unfolding it. */
export function ReasoningFold({ turn }: { readonly turn: TurnState }) {
  const { iterationIndex, status, reasoning, reasoningTruncated } = turn
  if (reasoning === undefined) return null
  const name = `reasoning-${iterationIndex}`
  const isGrowing = status === 'RUNNING'
  return (
    <Fold
      name={name}
      className={styles['reasoning']}
      summary={
        <span className={cx(styles['line'], styles['quiet'])}>
          <span>Reasoning</span>
          <span className={styles['gist']}>
            {isGrowing ? toLastLine(reasoning) : describeSize(turn)}
          </span>
        </span>
      }
    >
      {() => (
        <>
          {isGrowing ? (
            <GrowingText text={reasoning} whole="the call is complete" />
          ) : (
            <Prose name={name} label="reasoning" text={reasoning} />
          )}
          {reasoningTruncated === true && (
            <p className={styles['small']}>The rest of the reasoning was too long to be stored</p>
          )}
        </>
      )}
    </Fold>
  )
}

function describeSize({ status, reasoningTokens }: TurnState): string {
  if (status === 'FAILED') return 'before the failure'
  return reasoningTokens === undefined ? '' : `${formatCount(reasoningTokens)} tokens`
}
