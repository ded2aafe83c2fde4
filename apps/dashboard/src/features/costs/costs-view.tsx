/** What a run has used, and where. */
import { taskShown } from '../../ui/labels.ts'
import { formatCount, formatMoney, plural, UNKNOWN } from '../../lib/format.ts'
import { Empty } from '../../ui/feedback/notice.tsx'
import { Figure, Figures } from '../../ui/show/figure.tsx'
import { Mark } from '../../ui/show/mark.tsx'
import {
  costsByModel,
  costsByTask,
  modelsWithoutPrice,
  sumOf,
  measureOf,
  shareOf,
  type UsedSum,
} from './costs.ts'
import styles from './costs-view.module.css'

import type { RunState } from '@tutti/protocol'
import type { ReactNode } from 'react'

/** Tokens, calls and cost by task and by model. */
export function CostsView({ state }: { readonly state: RunState }) {
  const tasks = costsByTask(state)
  const models = costsByModel(state)
  const total = sumOf(tasks.map(({ used }) => used))
  const unpriced = modelsWithoutPrice(state)
  const { costEstimate } = state.metrics ?? {}
  if (tasks.length === 0) {
    return <Empty title="Nothing used yet">Costs are told as models and agents answer.</Empty>
  }
  return (
    <div className={styles['costs']} role="group" aria-label="Costs" tabIndex={0}>
      <Figures>
        <Figure name="Cost">{formatMoney(total.costUsd)}</Figure>
        {costEstimate !== undefined && (
          <>
            <Figure name="of it, for input">{formatMoney(costEstimate.inputCost)}</Figure>
            <Figure name="of it, for output">{formatMoney(costEstimate.outputCost)}</Figure>
          </>
        )}
        <Figure name="Tokens in">{formatCount(total.inputTokens)}</Figure>
        <Figure name="Tokens out">{formatCount(total.outputTokens)}</Figure>
        <Figure name="Model calls">{formatCount(total.modelCalls)}</Figure>
        <Figure name="Tool calls">{formatCount(total.toolCalls)}</Figure>
      </Figures>
      <Unknown unpriced={unpriced} isCostKnown={total.costUsd !== undefined} />
      {total.inputTokens === -1 && (
        <p className={styles['note']}>
          Tokens are not known in all: a model did not say how many it used.
        </p>
      )}
      <CostTable
        caption="By task"
        total={total}
        rows={tasks.map(({ task, used }) => ({
          key: task.name,
          name: (
            <span className={styles['task']}>
              <Mark kind={taskShown(task, false).mark} label={taskShown(task, false).word} />
              {task.name}
            </span>
          ),
          note:
            task.earlierAttempts.length === 0
              ? undefined
              : `${plural(task.attempt, 'attempt')}, all counted`,
          used,
        }))}
      />
      <CostTable
        caption="By model"
        total={total}
        rows={models.map(({ name, model, used }) => ({
          key: `${model === undefined ? 'other' : 'model'} ${name}`,
          name,
          note: model === undefined ? undefined : priceNote(model, unpriced),
          used,
        }))}
      />
    </div>
  )
}

function priceNote(model: string, unpriced: readonly string[]): string | undefined {
  return unpriced.includes(model) ? 'no price is known' : undefined
}

function Unknown({
  unpriced,
  isCostKnown,
}: {
  readonly unpriced: readonly string[]
  readonly isCostKnown: boolean
}) {
  if (isCostKnown) return null
  const why =
    unpriced.length === 0
      ? 'an attempt ended without saying it'
      : `no price is known for ${unpriced.join(', ')}`
  return <p className={styles['note']}>The cost is not known in all: {why}.</p>
}

interface CostLine {
  readonly key: string
  readonly name: ReactNode
  /** Below the name. */
  readonly note: string | undefined
  readonly used: UsedSum
}

/** The lines, their shares and `total`. */
function CostTable({
  caption,
  rows,
  total,
}: {
  readonly caption: string
  readonly rows: readonly CostLine[]
  readonly total: UsedSum
}) {
  const measure = measureOf(total)
  return (
    <table className={styles['table']}>
      <caption>{caption}</caption>
      <thead>
        <tr>
          <th scope="col">
            {caption.replace('By ', '').replace(/^./, (letter) => letter.toUpperCase())}
          </th>
          <th scope="col">Model calls</th>
          <th scope="col">Tool calls</th>
          <th scope="col">Tokens in</th>
          <th scope="col">Tokens out</th>
          <th scope="col">Cost</th>
          <th scope="col">{measure === 'tokens' ? 'Share of tokens' : 'Share of cost'}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, name, note, used }) => (
          <tr key={key}>
            <th scope="row">
              {name}
              {note !== undefined && <span className={styles['costTableNote']}>{note}</span>}
            </th>
            <Numbers used={used} />
            <td>
              <Share share={shareOf(used, total)} />
            </td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">In all</th>
          <Numbers used={total} />
          <td />
        </tr>
      </tfoot>
    </table>
  )
}

function Numbers({ used }: { readonly used: UsedSum }) {
  return (
    <>
      <td>{formatCount(used.modelCalls)}</td>
      <td>{formatCount(used.toolCalls)}</td>
      <td>{formatCount(used.inputTokens)}</td>
      <td>{formatCount(used.outputTokens)}</td>
      <td>{formatMoney(used.costUsd)}</td>
    </>
  )
}

function Share({ share }: { readonly share: number | undefined }) {
  if (share === undefined) return <>{UNKNOWN}</>
  const percent = share * 100
  return (
    <span className={styles['share']}>
      <span className={styles['bar']}>
        <span style={{ inlineSize: `${Math.min(100, Math.max(0, percent))}%` }} />
      </span>
      <span>{percent > 0 && percent < 1 ? '<1' : Math.round(percent)} %</span>
    </span>
  )
}
