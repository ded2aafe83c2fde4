/** Pure: the current work of a task, in as many lines as fit: its last calls, then the text of its model. */
import { formatTerminalDuration } from './format-values.ts'
import { lastLines, toSingleLine } from '../../terminal/text-width.ts'

import type { AgentCallState, TaskState, ToolCallState, TurnState } from '@tutti/protocol/internal'
import type { Line } from '../../terminal/line.ts'
import type { Marks } from './marks.ts'

/** Space for the detail of one task. */
export interface DetailRoom {
  readonly columns: number
  readonly lines: number
  readonly marks: Marks
}

/** Maximum number of calls shown, the newest ones. */
const MAX_CALLS = 3

const INDENT = '  '

/** Returns at most `room.lines` lines. */
export function taskDetail(task: TaskState, room: DetailRoom): readonly Line[] {
  const turn = task.turns.at(-1)
  if (turn === undefined || room.lines <= 0) return []
  const text = turn.status === 'RUNNING' ? textLines(turn, room) : []
  const failure = failureLine(turn)
  const calls = callLines(task, room)
  // The streaming text has priority; the calls get the remaining lines.
  const before = [...calls, ...(failure === undefined ? [] : [failure])]
  const callRoom = Math.max(Math.min(before.length, 1), room.lines - text.length)
  const shown = before.slice(-Math.min(before.length, callRoom))
  return [...shown, ...text.slice(-(room.lines - shown.length) || text.length)].slice(-room.lines)
}

/** Returns the text of the model; before it begins, the last line of its reasoning. */
function textLines(
  { text, reasoning = '' }: TurnState,
  { columns, lines, marks }: DetailRoom,
): readonly Line[] {
  const prefix = `${INDENT}${marks.text} `
  const width = Math.max(1, columns - prefix.length)
  const head = { text: prefix, style: 'dim' } as const
  if (text === '') {
    return lastLines(reasoning, width, 1).map((line) => [head, { text: line, style: 'dim' }])
  }
  return lastLines(text, width, lines).map((line) => [head, { text: line }])
}

function failureLine(turn: TurnState): Line | undefined {
  const failure = turn.failures.at(-1)
  if (failure === undefined || turn.status === 'COMPLETED') return undefined
  const { reason, retryInMs, nextModel } = failure
  return [
    {
      text: `${INDENT}${toSingleLine(failure.model)}: ${toSingleLine(reason)}${formatNext(retryInMs, nextModel)}`,
      style: 'yellow',
    },
  ]
}

function formatNext(retryInMs: number | undefined, nextModel: string | undefined): string {
  if (nextModel !== undefined) return `; next model: ${toSingleLine(nextModel)}`
  return retryInMs === undefined ? '' : `; retrying in ${formatTerminalDuration(retryInMs)}`
}

function callLines({ turns, agentCalls }: TaskState, { marks }: DetailRoom): readonly Line[] {
  const calls: ToolCallState[] = []
  for (let at = turns.length - 1; at >= 0 && calls.length < MAX_CALLS; at -= 1) {
    calls.unshift(...(turns[at]?.toolCalls ?? []))
  }
  return calls.slice(-MAX_CALLS).map((call) => callLine(call, agentCalls, marks))
}

function callLine(call: ToolCallState, agentCalls: readonly AgentCallState[], marks: Marks): Line {
  const { name, status } = call
  const mark =
    status === 'RUNNING' ? marks.call : marks.status[status === 'FAILED' ? 'FAILED' : 'COMPLETED']
  const style = status === 'FAILED' ? ('red' as const) : ('dim' as const)
  const head = { text: `${INDENT}${mark} ${toSingleLine(name)}`, style }
  return [head, { text: `  ${formatCallText(call, agentCalls)}`, style: 'dim' }]
}

function formatCallText(call: ToolCallState, agentCalls: readonly AgentCallState[]): string {
  const given = toSingleLine(call.arguments ?? '')
  if (call.status === 'FAILED') return toSingleLine(call.result ?? given)
  if (call.status === 'SUCCEEDED') {
    return `${call.durationMs === undefined ? '' : `${formatTerminalDuration(call.durationMs)}  `}${given}`
  }
  const agent = agentCalls.findLast(({ toolCallId }) => toolCallId === call.id)
  const called = agent === undefined ? '' : `calls ${toSingleLine(agent.agentUri)}`
  const received = agent === undefined || agent.chunks === 0 ? '' : `${agent.chunks} chunks`
  return [formatProgress(call), called, received, given].filter((part) => part !== '').join('  ')
}

function formatProgress({ progress }: ToolCallState): string {
  if (progress === undefined) return ''
  const { message, fraction } = progress
  return `${fraction === undefined ? '' : `${Math.round(fraction * 100)} % `}${toSingleLine(message)}`
}
