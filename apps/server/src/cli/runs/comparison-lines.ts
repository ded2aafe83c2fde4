/** Pure: formats the comparison of two runs: totals, inputs, tasks, and the texts and tool calls that differ. */
import { structuredPatch } from 'diff'

import { formatDollars, formatTerminalDuration } from '../live/format-values.ts'
import { TASK_STATUS_STYLES } from '../live/marks.ts'
import { RUN_STATUS_STYLES } from '../live/run-lines.ts'
import { toSingleLine, toTerminalText } from '../../terminal/text-width.ts'
import { tableLines, type Column } from '../../terminal/table.ts'
import { formatTokens } from './run-table.ts'

import type { RunComparison } from '@tutti/protocol'
import type {
  ComparedCall,
  ComparedCallPair,
  ComparedRun,
  ComparedTask,
  ComparedTaskSide,
  ComparedText,
} from '@tutti/protocol/internal'
import type { Line, LineSpan, Style } from '../../terminal/line.ts'

const EMPTY: Line = []

/** Placeholder for a value that is not known. */
const NONE = '-'

/** Number of equal lines around a change. */
const CONTEXT = 2

/** Maximum number of changed lines for which a diff is computed, because its time grows with their square. */
const MAX_CHANGES = 2_000

/** Returns the lines of a comparison. */
export function comparisonLines(comparison: RunComparison): readonly Line[] {
  const { a, b, inputs, tasks } = comparison
  return [
    runLine('A', a),
    runLine('B', b),
    ...relationLines(comparison),
    EMPTY,
    ...totalLines(comparison),
    ...partialLines(comparison),
    ...inputs.flatMap(({ name, ...sides }) => textLines(`Input ${name}`, sides)),
    EMPTY,
    ...tableLines(TASK_COLUMNS, tasks.map(taskRow)),
    ...omittedLines(comparison),
    ...tasks.flatMap(taskLines),
  ]
}

function runLine(letter: string, { runId, status, ensemble }: ComparedRun): Line {
  return [
    { text: `${letter}  `, style: 'dim' },
    { text: runId, style: 'bold' },
    { text: '  ' },
    { text: status, style: RUN_STATUS_STYLES[status] },
    { text: `  ${toSingleLine(ensemble)}` },
  ]
}

function relationLines({ a, b, relation }: RunComparison): readonly Line[] {
  if (relation === undefined) return []
  return [[{ text: `   ${describeRelation(relation, a, b)}`, style: 'cyan' }]]
}

function describeRelation(
  relation: NonNullable<RunComparison['relation']>,
  a: ComparedRun,
  b: ComparedRun,
): string {
  switch (relation) {
    case 'PARENT':
      return `B is ${describeChild(b)} of A`
    case 'CHILD':
      return `A is ${describeChild(a)} of B`
    case 'SIBLINGS':
      return `A is ${describeChild(a)} and B ${describeChild(b)} of ${a.parent?.runId ?? ''}`
    case 'SAME':
      return 'A and B are the same run'
  }
}

function describeChild({ parent }: ComparedRun): string {
  return parent?.replay === undefined
    ? `a fork after event ${parent?.at ?? 0}`
    : `a replay (${parent.replay})`
}

const TOTAL_COLUMNS: readonly Column[] = [
  { title: '' },
  { title: 'A', align: 'right' },
  { title: 'B', align: 'right' },
  { title: 'CHANGE', align: 'right' },
]

function totalLines({ a, b, difference }: RunComparison): readonly Line[] {
  const row = (
    name: string,
    values: readonly [number | undefined, number | undefined, change: number | undefined],
    format: (value: number) => string,
  ): Line => {
    const [one, other, change] = values
    return [
      { text: name, style: 'dim' },
      { text: formatValue(one, format) },
      { text: formatValue(other, format) },
      { text: formatChange(change, format) },
    ]
  }
  const count = (value: number): string => value.toLocaleString('en-US')
  return tableLines(TOTAL_COLUMNS, [
    row('time', [a.durationMs, b.durationMs, difference.durationMs], formatTerminalDuration),
    row('tokens', [knownTokens(a), knownTokens(b), difference.tokens], count),
    row('cost', [a.costUsd, b.costUsd, difference.costUsd], formatDollars),
    row('model calls', [a.modelCalls, b.modelCalls, difference.modelCalls], count),
    row('tool calls', [a.toolCalls, b.toolCalls, difference.toolCalls], count),
  ])
}

function knownTokens({ tokens }: ComparedRun): number | undefined {
  return tokens === -1 ? undefined : tokens
}

function formatValue(value: number | undefined, format: (value: number) => string): string {
  return value === undefined ? NONE : format(value)
}

function formatChange(value: number | undefined, format: (value: number) => string): string {
  if (value === undefined) return NONE
  if (value === 0) return '0'
  return `${value < 0 ? '-' : '+'}${format(Math.abs(value))}`
}

function partialLines({ a, b }: RunComparison): readonly Line[] {
  const letters = [...(a.partial === true ? ['A'] : []), ...(b.partial === true ? ['B'] : [])]
  if (letters.length === 0) return []
  const text = `Only the first calls of ${letters.join(' and ')} are compared, because there are too many`
  return [[{ text, style: 'yellow' }]]
}

function omittedLines({ omitted }: RunComparison): readonly Line[] {
  if (omitted === undefined) return []
  const count = omitted.tasks.toLocaleString('en-US')
  const different =
    omitted.different === 0
      ? 'equal'
      : `${omitted.different.toLocaleString('en-US')} of them differ`
  return [[{ text: `${count} more tasks are not listed: ${different}`, style: 'yellow' }]]
}

const TASK_COLUMNS: readonly Column[] = [
  { title: 'TASK' },
  { title: 'STATUS' },
  { title: 'OUTPUT' },
  { title: 'TIME', align: 'right' },
  { title: 'TOKENS', align: 'right' },
  { title: 'COST', align: 'right' },
  { title: 'MODEL', align: 'right' },
  { title: 'TOOLS', align: 'right' },
]

function taskRow(task: ComparedTask): readonly LineSpan[] {
  const { name, a, b } = task
  const both = (format: (side: ComparedTaskSide) => string): LineSpan => ({
    text: joinSides(a === undefined ? NONE : format(a), b === undefined ? NONE : format(b)),
  })
  return [
    { text: name },
    { ...both(describeStatus), style: TASK_STATUS_STYLES[(b ?? a)?.status ?? 'PENDING'] },
    { text: describeOutput(task) },
    both(({ durationMs }) => formatValue(durationMs, formatTerminalDuration)),
    both(({ tokens }) => formatTokens(tokens)),
    both(({ costUsd }) => formatValue(costUsd, formatDollars)),
    both(({ modelCalls }) => String(modelCalls)),
    both(({ toolCalls }) => String(toolCalls)),
  ]
}

/** Returns one value if both sides are equal, otherwise both. */
function joinSides(a: string, b: string): string {
  return a === b ? a : `${a} -> ${b}`
}

function describeStatus({ status, reused, attempt }: ComparedTaskSide): string {
  const tries = attempt > 1 ? ` (attempt ${attempt})` : ''
  return `${status}${tries}${reused === true ? ' (reused)' : ''}`
}

function describeOutput({ a, b, sameOutput }: ComparedTask): string {
  if (a === undefined) return 'only in B'
  if (b === undefined) return 'only in A'
  if (sameOutput === undefined) {
    if (a.output === b.output) return NONE
    return a.output === undefined ? 'only in B' : 'only in A'
  }
  return sameOutput ? 'equal' : 'differs'
}

/** Returns the texts and tool calls of a task that differ. */
function taskLines({
  name,
  a,
  b,
  sameDescription,
  sameOutput,
  calls,
}: ComparedTask): readonly Line[] {
  const texts = (pick: (side: ComparedTaskSide) => ComparedText | undefined) => {
    const [one, other] = [a && pick(a), b && pick(b)]
    return {
      ...(one === undefined ? {} : { a: one }),
      ...(other === undefined ? {} : { b: other }),
    }
  }
  const errors = [a?.error, b?.error]
  return [
    ...(sameDescription === false
      ? textLines(
          `${name}: description`,
          texts(({ description }) => description),
        )
      : []),
    ...(sameOutput === true
      ? []
      : textLines(
          `${name}: output`,
          texts(({ output }) => output),
        )),
    ...(errors[0] === errors[1]
      ? []
      : textLines(
          `${name}: error`,
          texts(({ error }) => (error === undefined ? undefined : { text: error, bytes: 0 })),
        )),
    ...(calls.every(({ sameInput }) => sameInput === true) ? [] : callLines(name, calls)),
  ]
}

interface Sides<T> {
  readonly a?: T
  readonly b?: T
}

/** Returns the changed lines of a text under a title; nothing if neither run has the text. */
function textLines(title: string, { a, b }: Sides<ComparedText>): readonly Line[] {
  if (a === undefined && b === undefined) return []
  const cut = [
    ...(a?.cut === true ? [`A has ${a.bytes.toLocaleString('en-US')} bytes`] : []),
    ...(b?.cut === true ? [`B has ${b.bytes.toLocaleString('en-US')} bytes`] : []),
  ]
  return [
    EMPTY,
    [
      { text: toSingleLine(title), style: 'bold' },
      ...(cut.length === 0
        ? []
        : [{ text: ` (only the start is compared: ${cut.join(', ')})`, style: 'yellow' as const }]),
    ],
    ...diffLines(a?.text, b?.text),
  ]
}

const SIGN_STYLES: Readonly<Record<string, Style>> = { '-': 'red', '+': 'green' }

function diffLines(a: string | undefined, b: string | undefined): readonly Line[] {
  const [before, after] = [a, b].map((text) =>
    text === undefined ? '' : `${toTerminalText(text).trimEnd()}\n`,
  )
  const patch = structuredPatch('a', 'b', before ?? '', after ?? '', '', '', {
    context: CONTEXT,
    maxEditLength: MAX_CHANGES,
  })
  const lines =
    patch === undefined
      ? [...wholeText('-', before), ...wholeText('+', after)]
      : patch.hunks.flatMap(({ lines: changed }, index) => [
          ...(index === 0 ? [] : ['…']),
          ...changed,
        ])
  if (lines.length === 0) return [[{ text: '  the compared texts are equal', style: 'dim' }]]
  return lines.map((text): Line => [
    {
      text: `  ${text.slice(0, 1)} ${text.slice(1)}`.trimEnd(),
      style: SIGN_STYLES[text.slice(0, 1)] ?? 'dim',
    },
  ])
}

/** Returns every line of a text, marked as removed or added. */
function wholeText(sign: '-' | '+', text = ''): readonly string[] {
  return text === ''
    ? []
    : text
        .trimEnd()
        .split('\n')
        .map((line) => `${sign}${line}`)
}

function callLines(name: string, calls: readonly ComparedCallPair[]): readonly Line[] {
  return [
    EMPTY,
    [{ text: toSingleLine(`${name}: tool calls`), style: 'bold' }],
    ...calls.flatMap(({ a, b, sameInput }) =>
      a !== undefined && b !== undefined && sameInput === true && a.outcome === b.outcome
        ? [callLine(' ', b)]
        : [
            ...(a === undefined ? [] : [callLine('-', a)]),
            ...(b === undefined ? [] : [callLine('+', b)]),
          ],
    ),
  ]
}

function callLine(sign: string, { toolName, input, outcome, reused }: ComparedCall): Line {
  const failed = outcome === 'FAILURE' ? ' FAILED' : ''
  const given =
    input === undefined ? '' : ` ${toSingleLine(input.text)}${input.cut === true ? '…' : ''}`
  const origin = reused === true ? ' (reused)' : ''
  return [
    {
      text: `  ${sign} ${toSingleLine(toolName)}${given}${failed}${origin}`,
      style: SIGN_STYLES[sign] ?? 'dim',
    },
  ]
}
