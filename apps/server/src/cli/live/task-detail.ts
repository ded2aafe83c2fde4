/** Pure: what a running task is doing, in as many lines as there is room for: its last calls, then its words. */
import { formatTerminalDuration } from './figures.ts'
import { lastLines, toSingleLine } from './text-width.ts'

import type { AgentCallState, TaskState, ToolCallState, TurnState } from '@tutti/protocol'
import type { Line } from './line.ts'
import type { Marks } from './marks.ts'

/** Room for the detail of one task. */
export interface DetailRoom {
  readonly columns: number
  readonly lines: number
  readonly marks: Marks
}

/** Calls that are shown at most, the newest. */
const MAX_CALLS = 3

const INDENT = '  '

/** The lines, `room.lines` at most. */
export function taskDetail(task: TaskState, room: DetailRoom): readonly Line[] {
  const turn = task.turns.at(-1)
  if (turn === undefined || room.lines <= 0) return []
  const said = turn.status === 'RUNNING' ? textLines(turn, room) : []
  const failure = failureLine(turn)
  const calls = callLines(task, room)
  // The words that come are what moves: they get the room, and what is left is for the calls.
  const before = [...calls, ...(failure === undefined ? [] : [failure])]
  const room4calls = Math.max(Math.min(before.length, 1), room.lines - said.length)
  const shown = before.slice(-Math.min(before.length, room4calls))
  return [...shown, ...said.slice(-(room.lines - shown.length) || said.length)].slice(-room.lines)
}

function textLines({ text }: TurnState, { columns, lines, marks }: DetailRoom): readonly Line[] {
  const prefix = `${INDENT}${marks.text} `
  return lastLines(text, Math.max(1, columns - prefix.length), lines).map((line) => [
    { text: prefix, style: 'dim' },
    { text: line },
  ])
}

function failureLine(turn: TurnState): Line | undefined {
  const failure = turn.failures.at(-1)
  if (failure === undefined || turn.status === 'COMPLETED') return undefined
  const { reason, retryInMs, nextModel } = failure
  return [
    {
      text: `${INDENT}${toSingleLine(failure.model)}: ${toSingleLine(reason)}${nextOf(retryInMs, nextModel)}`,
      style: 'yellow',
    },
  ]
}

function nextOf(retryInMs: number | undefined, nextModel: string | undefined): string {
  if (nextModel !== undefined) return `; ${toSingleLine(nextModel)} is asked next`
  return retryInMs === undefined ? '' : `; again in ${formatTerminalDuration(retryInMs)}`
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
  return [head, { text: `  ${wordsOf(call, agentCalls)}`, style: 'dim' }]
}

function wordsOf(call: ToolCallState, agentCalls: readonly AgentCallState[]): string {
  const given = toSingleLine(call.arguments ?? '')
  if (call.status === 'FAILED') return toSingleLine(call.result ?? given)
  if (call.status === 'SUCCEEDED') {
    return `${call.durationMs === undefined ? '' : `${formatTerminalDuration(call.durationMs)}  `}${given}`
  }
  const agent = agentCalls.findLast(({ toolCallId }) => toolCallId === call.id)
  const asked = agent === undefined ? '' : `asks ${toSingleLine(agent.agentUri)}`
  const heard = agent === undefined || agent.chunks === 0 ? '' : `${agent.chunks} chunks`
  return [progressOf(call), asked, heard, given].filter((word) => word !== '').join('  ')
}

function progressOf({ progress }: ToolCallState): string {
  if (progress === undefined) return ''
  const { message, fraction } = progress
  return `${fraction === undefined ? '' : `${Math.round(fraction * 100)} % `}${toSingleLine(message)}`
}
