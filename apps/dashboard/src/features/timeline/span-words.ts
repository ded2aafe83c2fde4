/** Pure: what is said of a part of the timeline. */
import {
  AGENT_CALL_STATUS,
  CALL_STATUS,
  DECISION,
  taskShown,
  TURN_STATUS,
} from '../../ui/labels.ts'
import { formatClock, formatCount, formatDuration, formatMoney, plural } from '../../lib/format.ts'
import { offsetLabel } from './scale.ts'

import type { ReviewState } from '@tutti/protocol'

import type { MarkKind } from '../../ui/show/mark.tsx'
import type { TimelineSpan, TimelineMark } from './spans.ts'
import type { TimelineRow } from './timeline-model.ts'

/** A mark and its word, and facts as names with values. */
export interface Words {
  readonly title: string
  readonly mark?: MarkKind
  readonly state?: string
  readonly facts: readonly Fact[]
  /** Why it failed, what was said; may be long. */
  readonly note?: string | undefined
}

type Fact = readonly [name: string, value: string]

/** When the run began, and the time it is. */
export interface Times {
  readonly startMs: number
  readonly nowMs: number
}

const GATE_TIMING: Readonly<Record<ReviewState['timing'], string>> = {
  BEFORE_EXECUTION: 'Review before the task',
  DURING_EXECUTION: 'Review of a tool call',
  AFTER_EXECUTION: 'Review of the output',
}

/** What is said of one thing that took time. */
export function spanWords(span: TimelineSpan, times: Times): Words {
  return { ...ownWords(span), facts: [...whenFacts(span, times), ...ownFacts(span)] }
}

/** What is said of something that happened at once. */
export function markWords(mark: TimelineMark, { startMs }: Times): Words {
  const when: Fact = ['At', whenWords(mark.atMs, startMs)]
  switch (mark.kind) {
    case 'directive': {
      const { from, content, action, value } = mark.directive
      const facts = [when, ...fact('Task', mark.target?.taskName), ...fact('From', from)]
      const note = content ?? [action, value].filter(Boolean).join(' ')
      return { title: 'Directive delivered', facts, note }
    }
    case 'switch': {
      const { model, previousModel, taskName, actor } = mark.change
      const of: Fact = ['For', taskName ?? 'the whole run']
      const facts = [when, of, ...fact('Before', previousModel), ...fact('By', actor)]
      return { title: `Model switched to ${model}`, facts }
    }
    case 'cancel': {
      const way = mark.mode === 'boundary' ? 'after the tasks that run' : 'at once'
      return { title: `Cancel asked for, ${way}`, facts: [when, ...fact('By', mark.actor)] }
    }
    case 'resume':
      return { title: 'Taken up by another process', facts: [when] }
  }
}

/** An instant as a time into the run and a time of day. */
export function whenWords(ms: number, startMs: number): string {
  return `${offsetLabel(Math.max(0, Math.round(ms - startMs)))} (${formatClock(ms)})`
}

/** All of it in one sentence, for who cannot see it. */
export function sentenceOf({ title, state, facts, note }: Words): string {
  const parts = [title, state, ...facts.map(([name, value]) => `${name} ${value}`), note]
  return parts.filter((part) => part !== undefined && part !== '').join(', ')
}

function ownWords(span: TimelineSpan): Omit<Words, 'facts'> {
  switch (span.kind) {
    case 'model': {
      const { turn, failure } = span
      const title = `Model call ${turn.iterationIndex + 1}`
      if (failure !== undefined)
        return { title, mark: 'failed', state: 'Failed', note: failure.reason }
      const { mark, word } = TURN_STATUS[span.status === 'failed' ? 'FAILED' : turn.status]
      return { title, mark, state: word }
    }
    case 'tool': {
      const { call } = span
      const { mark, word } = CALL_STATUS[span.status === 'failed' ? 'FAILED' : call.status]
      const note = call.status === 'FAILED' ? call.result : call.progress?.message
      return { title: `Tool call ${call.name}`, mark, state: word, note: note ?? undefined }
    }
    case 'agent': {
      const { agentCall } = span
      const { mark, word } = AGENT_CALL_STATUS[agentCall.status]
      const title = `Agent asked by ${agentCall.toolName}`
      return { title, mark, state: word, note: agentCall.error }
    }
    case 'attempt': {
      const { task } = span
      const { mark, word } = taskShown(task, false)
      const title = task.attempt > 1 ? `${task.name}, attempt ${task.attempt}` : task.name
      return { title, mark, state: word, note: task.error?.reason ?? task.skipReason }
    }
    case 'gate': {
      const { gate } = span
      const title = GATE_TIMING[gate.timing]
      const mark = gate.status === 'OPEN' ? 'held' : 'done'
      return { title, mark, state: gateState(gate), note: gate.prompt ?? gate.feedback }
    }
  }
}

function gateState({ status, decision, reason }: ReviewState): string {
  switch (status) {
    case 'OPEN':
      return 'Needs review'
    case 'DECIDED':
      return decision === undefined ? 'Decided' : DECISION[decision]
    case 'TIMED_OUT':
      return 'Nobody decided in time'
    case 'WITHDRAWN':
      return reason === undefined ? 'Withdrawn' : `Withdrawn: ${reason}`
  }
}

function whenFacts(
  { startMs, endMs }: TimelineSpan,
  { startMs: beganMs, nowMs }: Times,
): readonly Fact[] {
  const ms = (endMs ?? Math.max(nowMs, startMs)) - startMs
  return [
    ['At', whenWords(startMs, beganMs)],
    [endMs === undefined ? 'So far' : 'Took', formatDuration(ms)],
  ]
}

function ownFacts(span: TimelineSpan): readonly Fact[] {
  switch (span.kind) {
    case 'model': {
      const { turn, failure } = span
      const model: Fact = ['Model', failure?.model ?? turn.model]
      if (failure !== undefined) {
        const wait = failure.retryInMs === undefined ? undefined : formatDuration(failure.retryInMs)
        return [model, ...fact('Again in', wait), ...fact('Next', failure.nextModel)]
      }
      if (turn.status !== 'COMPLETED') return [model]
      return [
        model,
        ['Tokens in', formatCount(turn.inputTokens)],
        ['Tokens out', formatCount(turn.outputTokens)],
        ['Cost', formatMoney(turn.costUsd)],
      ]
    }
    case 'tool':
      return []
    case 'agent': {
      const { retryIndex, costUsd, agentUri } = span.agentCall
      const tries = retryIndex === 0 ? undefined : String(retryIndex + 1)
      return [['Agent', agentUri], ...fact('Try', tries), ['Cost', formatMoney(costUsd)]]
    }
    case 'attempt': {
      const { usage } = span.task
      return [
        ['Tokens in', formatCount(usage.inputTokens)],
        ['Tokens out', formatCount(usage.outputTokens)],
        ['Cost', formatMoney(usage.costUsd)],
      ]
    }
    case 'gate':
      return fact('By', span.gate.decidedBy)
  }
}

function fact(name: string, value: string | undefined): readonly Fact[] {
  return value === undefined || value === '' ? [] : [[name, value]]
}

const NAMES: Readonly<Record<TimelineSpan['kind'], string>> = {
  model: 'model call',
  tool: 'tool call',
  agent: 'agent call',
  attempt: 'attempt',
  gate: 'review',
}

/** How many there are, when, and how many failed. */
export function blockWords(spans: readonly TimelineSpan[], { startMs, nowMs }: Times): Words {
  const [first] = spans
  const last = spans.at(-1)
  if (first === undefined || last === undefined) return { title: 'Nothing', facts: [] }
  const kinds = [...new Set(spans.map(({ kind }) => kind))]
  const title = kinds
    .map((kind) => plural(spans.filter((span) => span.kind === kind).length, NAMES[kind]))
    .join(', ')
  const failed = spans.filter(({ status }) => status === 'failed').length
  const span = (last.endMs ?? nowMs) - first.startMs
  return {
    title,
    ...(failed === 0 ? {} : { mark: 'failed', state: `${failed} failed` }),
    facts: [
      ['From', whenWords(first.startMs, startMs)],
      ['Within', formatDuration(span)],
    ],
    note: 'Zoom in to tell them apart',
  }
}

/** What happened in a task, and when. */
export function rowWords(row: TimelineRow, { startMs, nowMs }: Times): string {
  const { task, attempts, gates, lanes } = row
  const [models = [], ...others] = lanes
  const calls = others.flat()
  const agents = calls.filter(({ kind }) => kind === 'agent')
  const tools = agents.length === 0 ? calls : calls.filter(({ kind }) => kind === 'tool')
  const isHeld = gates.some(({ endMs }) => endMs === undefined)
  const heldMs = gates.reduce((sum, gate) => sum + (gate.endMs ?? nowMs) - gate.startMs, 0)
  const [first] = attempts
  const last = attempts.at(-1)
  const lastMs = last?.endMs ?? nowMs
  return [
    `${task.name}: ${taskShown(task, isHeld).word}`,
    first === undefined ? '' : `began ${offsetLabel(first.startMs - startMs)} into the run`,
    first === undefined ? '' : `${formatDuration(lastMs - first.startMs)} long`,
    attempts.length > 1 ? plural(attempts.length, 'attempt') : '',
    counted(models, 'model call'),
    counted(tools, 'tool call'),
    counted(agents, 'agent call'),
    gates.length === 0
      ? ''
      : `held for ${formatDuration(heldMs)} by ${plural(gates.length, 'review')}`,
  ]
    .filter((part) => part !== '')
    .join(', ')
}

function counted(spans: readonly { readonly status: string }[], name: string): string {
  if (spans.length === 0) return ''
  const failed = spans.filter(({ status }) => status === 'failed').length
  return `${plural(spans.length, name)}${failed === 0 ? '' : `, ${failed} of them failed`}`
}
