/** Shows what a fork would reuse, call and cost. */
import { readFailureText } from '../../api/failure.ts'
import { cx } from '../../lib/cx.ts'
import { formatCount, formatMoney, formatPlural } from '../../lib/format.ts'
import { Loading, Notice } from '../../ui/feedback/notice.tsx'
import { FORK_ACTIONS } from './fork-form.ts'
import styles from './fork-preview.module.css'

import type { ForkPreview } from '@tutti/protocol'
import type { ForkTaskPreview, ForkUsage } from '@tutti/protocol/internal'

/** The preview; `isStale` is whether a newer one is being read. */
export function ForkPreviewView({
  data,
  error,
  isStale,
}: {
  readonly data: ForkPreview | undefined
  readonly error: Error | null
  readonly isStale: boolean
}) {
  if (error !== null && !isStale) {
    return (
      <Notice tone="held" title="This fork cannot be started">
        {readFailureText(error)}
      </Notice>
    )
  }
  if (data === undefined) return <Loading label="Reading the preview" />
  return (
    <section aria-label="Preview" aria-busy={isStale} className={styles['preview']}>
      <h3>Preview {isStale && <span className={styles['soft']}>updating…</span>}</h3>
      <p>
        <strong>{describeEstimate(data)}</strong> {describeReused(data.reused)}
      </p>
      <ul className={styles['tasks']}>
        {data.tasks.map((task) => (
          <PreviewedTask key={task.name} task={task} />
        ))}
      </ul>
      {data.withoutEstimate.length > 0 && (
        <p className={styles['soft']}>
          Not included, because this run never executed it: {data.withoutEstimate.join(', ')}
        </p>
      )}
      {data.reviews.length > 0 && (
        <p className={styles['soft']}>
          {`${formatPlural(data.reviews.length, 'open review')} will be asked again.`}
        </p>
      )}
      {data.repeatedCalls.length > 0 && (
        <Notice tone="held" title="Calls with side effects may be repeated">
          {data.repeatedCalls.map(({ taskName, toolName, attempt }) => (
            <p key={`${taskName} ${attempt} ${toolName}`}>
              <code>{toolName}</code> of {taskName}
            </p>
          ))}
        </Notice>
      )}
    </section>
  )
}

function PreviewedTask({ task }: { readonly task: ForkTaskPreview }) {
  const { name, action, estimate } = task
  const isCalled = action === 'EXECUTED' || action === 'CONTINUED'
  return (
    <li className={styles['task']}>
      <span className={styles['name']}>{name}</span>
      <span className={cx(styles['action'], isCalled && styles['called'])}>
        {FORK_ACTIONS[action]}
      </span>
      <span className={styles['usage']}>
        {estimate === undefined
          ? ''
          : `${formatPlural(estimate.modelCalls, 'model call')}, ${formatMoney(estimate.costUsd)}`}
      </span>
    </li>
  )
}

function describeEstimate({ estimate }: ForkPreview): string {
  const { modelCalls, toolCalls, tokens, costUsd } = estimate
  const calls = `${formatPlural(modelCalls, 'model call')} and ${formatPlural(toolCalls, 'tool call')}`
  const known = tokens === -1 ? '' : `, ${formatCount(tokens)} tokens`
  const cost = costUsd === undefined ? 'at an unknown cost' : `for about ${formatMoney(costUsd)}`
  return `${calls}${known}, ${cost}, by the usage of this run.`
}

function describeReused({ modelCalls, toolCalls }: ForkUsage): string {
  if (modelCalls === 0 && toolCalls === 0) return 'No call is reused.'
  return `Reused at no cost: ${formatPlural(modelCalls, 'model call')} and ${formatPlural(toolCalls, 'tool call')}.`
}
