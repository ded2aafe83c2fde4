/** Texts of a comparison: relations, changes and the reasons why a task is open at first. */
import { formatCount, formatDuration, formatMoney } from '../../lib/format.ts'

import type { RunComparison } from '@tutti/protocol'
import type { ComparedRun, ComparedTask } from '@tutti/protocol/internal'

/** Describes how the runs are related; undefined if they are not. */
export function describeRelation({ a, b, relation }: RunComparison): string | undefined {
  switch (relation) {
    case 'PARENT':
      return `B is ${describeChild(b)} of A`
    case 'CHILD':
      return `A is ${describeChild(a)} of B`
    case 'SIBLINGS':
      return `Both have the same parent: A is ${describeChild(a)}, B is ${describeChild(b)}`
    case 'SAME':
      return 'Both are the same run'
    default:
      return undefined
  }
}

function describeChild({ parent }: ComparedRun): string {
  if (parent?.replay === 'frozen') return 'a frozen replay'
  if (parent?.replay === 'models') return 'a replay with live models'
  return `a fork after event ${parent?.at ?? 0}`
}

/** Row of the table of totals. */
export interface TotalRow {
  readonly name: string
  readonly a: string
  readonly b: string
  readonly change: string
}

/** Returns the totals of both runs with their changes. */
export function listTotals({ a, b, difference }: RunComparison): readonly TotalRow[] {
  const row = (
    name: string,
    [one, other, change]: readonly (number | undefined)[],
    format: (value: number | undefined) => string,
  ): TotalRow => ({ name, a: format(one), b: format(other), change: formatChange(change, format) })
  return [
    row('Duration', [a.durationMs, b.durationMs, difference.durationMs], formatDuration),
    row('Tokens', [a.tokens, b.tokens, difference.tokens], formatCount),
    row('Cost', [a.costUsd, b.costUsd, difference.costUsd], formatMoney),
    row('Model calls', [a.modelCalls, b.modelCalls, difference.modelCalls], formatCount),
    row('Tool calls', [a.toolCalls, b.toolCalls, difference.toolCalls], formatCount),
  ]
}

/** Formats a difference with its sign; `0` stands for none. */
export function formatChange(
  value: number | undefined,
  format: (value: number | undefined) => string,
): string {
  if (value === undefined) return format(undefined)
  if (value === 0) return 'same'
  return `${value < 0 ? '−' : '+'}${format(Math.abs(value))}`
}

/** Describes how the two sides of a task differ. */
export function describeTaskChange({
  a,
  b,
  sameOutput,
  sameDescription,
  calls,
}: ComparedTask): string {
  if (a === undefined) return 'Only in B'
  if (b === undefined) return 'Only in A'
  const changed = [
    ...(sameDescription === false ? ['description'] : []),
    ...(sameOutput === false || (a.output === undefined) !== (b.output === undefined)
      ? ['output']
      : []),
    ...(calls.every(({ sameInput }) => sameInput === true) ? [] : ['tool calls']),
    ...(a.status === b.status ? [] : ['status']),
  ]
  if (changed.length === 0) return 'No differences'
  const text = `${changed.join(', ')} ${changed.length === 1 && changed[0] !== 'tool calls' ? 'differs' : 'differ'}`
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Whether both runs have the task with equal status, description, output and tool calls. */
export function isSameTask(task: ComparedTask): boolean {
  return describeTaskChange(task) === 'No differences'
}
