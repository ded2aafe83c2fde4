/** A table of what was used, line by line, with the sum below. */
import { formatCount, formatMoney, UNKNOWN } from '../../lib/format.ts'
import { measureOf, shareOf, type Used } from './costs.ts'
import styles from './cost-table.module.css'

import type { ReactNode } from 'react'

/** A line. */
export interface CostLine {
  readonly key: string
  readonly name: ReactNode
  /** Below the name. */
  readonly note: string | undefined
  readonly used: Used
}

/** The lines, their shares and `total`. */
export function CostTable({
  caption,
  rows,
  total,
}: {
  readonly caption: string
  readonly rows: readonly CostLine[]
  readonly total: Used
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
              {note !== undefined && <span className={styles['note']}>{note}</span>}
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

function Numbers({ used }: { readonly used: Used }) {
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
