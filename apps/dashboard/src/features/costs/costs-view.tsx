/** Shows the usage and cost of a run. */
import { countStates, formatStates } from '../../api/task-groups.ts'
import { labelTask } from '../../ui/labels.ts'
import { formatCount, formatMoney, formatPlural, UNKNOWN } from '../../lib/format.ts'
import { cx } from '../../lib/cx.ts'
import { Empty } from '../../ui/feedback/notice.tsx'
import { Figure, Figures } from '../../ui/show/figure.tsx'
import { Mark } from '../../ui/show/mark.tsx'
import {
  groupCostsByModel,
  findUnpricedModels,
  listTaskCosts,
  sumUsed,
  chooseMeasure,
  computeShare,
  type TaskCostRow,
  type UsedSum,
} from './costs.ts'
import page from '../../ui/layout/page.module.css'
import styles from './costs-view.module.css'

import type { RunState } from '@tutti/protocol'
import type { ReactNode } from 'react'

/** Tokens, calls and cost by task and by model. */
export function CostsView({ state }: { readonly state: RunState }) {
  const tasks = listTaskCosts(state)
  const models = groupCostsByModel(state)
  const total = sumUsed(tasks.map(({ used }) => used))
  const unpriced = findUnpricedModels(state)
  const { costEstimate } = state.metrics ?? {}
  if (tasks.length === 0) {
    return <Empty title="No usage yet">Costs appear as models and agents respond.</Empty>
  }
  return (
    <div
      className={cx(page['scroll'], styles['costs'])}
      role="group"
      aria-label="Costs"
      tabIndex={0}
    >
      <Figures>
        <Figure name="Cost">{formatMoney(total.costUsd)}</Figure>
        {costEstimate !== undefined && (
          <>
            <Figure name="Input cost">{formatMoney(costEstimate.inputCost)}</Figure>
            <Figure name="Output cost">{formatMoney(costEstimate.outputCost)}</Figure>
          </>
        )}
        <Figure name="Tokens in">{formatCount(total.inputTokens)}</Figure>
        <Figure name="Tokens out">{formatCount(total.outputTokens)}</Figure>
        <Figure name="Model calls">{formatCount(total.modelCalls)}</Figure>
        <Figure name="Tool calls">{formatCount(total.toolCalls)}</Figure>
      </Figures>
      <UnknownCost unpriced={unpriced} isCostKnown={total.costUsd !== undefined} />
      {total.inputTokens === -1 && (
        <p className={styles['note']}>
          The total tokens are unknown: a model did not report its usage.
        </p>
      )}
      <CostTable caption="By task" total={total} rows={tasks.map(toTaskLine)} />
      <CostTable
        caption="By model"
        total={total}
        rows={models.map(({ name, model, used }) => ({
          key: `${model === undefined ? 'other' : 'model'} ${name}`,
          name,
          note: model === undefined ? undefined : describeMissingPrice(model, unpriced),
          used,
        }))}
      />
    </div>
  )
}

function toTaskLine({ task, group, used }: TaskCostRow): CostLine {
  if (group !== undefined) {
    const name = `${group.tasks.length.toLocaleString('en-US')} tasks of ${group.parent}`
    return { key: group.name, name, note: formatStates(countStates(group, new Map())), used }
  }
  const { mark, word } = labelTask(task, undefined)
  return {
    key: task.name,
    name: (
      <span className={styles['task']}>
        <Mark kind={mark} label={word} />
        {task.name}
      </span>
    ),
    note:
      task.earlierAttempts.length === 0
        ? undefined
        : `${formatPlural(task.attempt, 'attempt')}, all included`,
    used,
  }
}

function describeMissingPrice(model: string, unpriced: readonly string[]): string | undefined {
  return unpriced.includes(model) ? 'no price configured' : undefined
}

interface UnknownCostProps {
  readonly unpriced: readonly string[]
  readonly isCostKnown: boolean
}

function UnknownCost({ unpriced, isCostKnown }: UnknownCostProps) {
  if (isCostKnown) return null
  const why =
    unpriced.length === 0
      ? 'an attempt ended without reporting it'
      : `no price is configured for ${unpriced.join(', ')}`
  return <p className={styles['note']}>The total cost is unknown: {why}.</p>
}

interface CostLine {
  readonly key: string
  readonly name: ReactNode
  /** Shown below the name. */
  readonly note: string | undefined
  readonly used: UsedSum
}

interface CostTableProps {
  readonly caption: string
  readonly rows: readonly CostLine[]
  readonly total: UsedSum
}

/** A table of the rows, their shares, and the total. */
function CostTable({ caption, rows, total }: CostTableProps) {
  const measure = chooseMeasure(total)
  return (
    <table className={cx(page['numbers'], styles['table'])}>
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
              <Share share={computeShare(used, total)} />
            </td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">Total</th>
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
