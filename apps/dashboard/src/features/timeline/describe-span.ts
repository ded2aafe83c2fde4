/** Describes the parts of a timeline. Pure. */
import {
  AGENT_CALL_STATUS,
  CALL_STATUS,
  DECISION,
  labelTask,
  TURN_STATUS,
  REVIEW_TITLES,
} from '../../ui/labels.ts'
import {
  formatClock,
  formatCount,
  formatDuration,
  formatMoney,
  formatPlural,
} from '../../lib/format.ts'
import { formatOffset } from './scale.ts'

import type { ReviewState } from '@tutti/protocol/internal'

import type { MarkKind } from '../../ui/show/mark.tsx'
import type { TimelineSpan, TimelineMark } from './spans.ts'
import type { TimelineRow } from './timeline-model.ts'

/** A description: title, state, and facts as names with values. */
export interface Description {
  readonly title: string
  readonly mark?: MarkKind
  readonly state?: string
  readonly facts: readonly Fact[]
  /** Reason of a failure, or a text; may be long. */
  readonly note?: string | undefined
}

type Fact = readonly [name: string, value: string]

/** Start of the run, and the current time, in milliseconds since 1970. */
export interface Times {
  readonly startMs: number
  readonly nowMs: number
}

export function describeSpan(span: TimelineSpan, times: Times): Description {
  return {
    ...describeContent(span),
    facts: [...listTimeFacts(span, times), ...listContentFacts(span)],
  }
}

export function describeMark(mark: TimelineMark, { startMs }: Times): Description {
  const when: Fact = ['At', formatWhen(mark.atMs, startMs)]
  switch (mark.kind) {
    case 'directive': {
      const { from, content, action, value } = mark.directive
      const facts = [
        when,
        ...createFact('Task', mark.target?.taskName),
        ...createFact('From', from),
      ]
      const note = content ?? [action, value].filter(Boolean).join(' ')
      return { title: 'Directive delivered', facts, note }
    }
    case 'switch': {
      const { model, previousModel, taskName, actor } = mark.change
      const of: Fact = ['For', taskName ?? 'the whole run']
      const facts = [when, of, ...createFact('Before', previousModel), ...createFact('By', actor)]
      return { title: `Model switched to ${model}`, facts }
    }
    case 'cancel': {
      const way =
        mark.mode === 'boundary' ? 'letting running tasks finish' : 'stopping running work'
      return { title: `Cancel requested, ${way}`, facts: [when, ...createFact('By', mark.actor)] }
    }
    case 'resume':
      return { title: 'Run resumed', facts: [when] }
  }
}

/** Formats an instant relative to the run and as a time of day. */
export function formatWhen(ms: number, startMs: number): string {
  return `${formatOffset(Math.max(0, Math.round(ms - startMs)))} (${formatClock(ms)})`
}

/** Joins a description into a sentence for screen readers. */
export function joinDescription({ title, state, facts, note }: Description): string {
  const parts = [title, state, ...facts.map(([name, value]) => `${name} ${value}`), note]
  return parts.filter((part) => part !== undefined && part !== '').join(', ')
}

function describeContent(span: TimelineSpan): Omit<Description, 'facts'> {
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
      const title = `Agent called by ${agentCall.toolName}`
      return { title, mark, state: word, note: agentCall.error }
    }
    case 'attempt': {
      const { task } = span
      const { mark, word } = labelTask(task, false)
      const title = task.attempt > 1 ? `${task.name}, attempt ${task.attempt}` : task.name
      return { title, mark, state: word, note: task.error?.reason ?? task.skipReason }
    }
    case 'review': {
      const { review } = span
      const title = REVIEW_TITLES[review.kind]
      const mark = review.status === 'OPEN' ? 'held' : 'done'
      return {
        title,
        mark,
        state: describeReviewState(review),
        note: review.prompt ?? review.feedback,
      }
    }
  }
}

function describeReviewState({ status, decision, reason }: ReviewState): string {
  switch (status) {
    case 'OPEN':
      return 'Needs review'
    case 'DECIDED':
      return decision === undefined ? 'Decided' : DECISION[decision]
    case 'TIMED_OUT':
      return 'Timed out'
    case 'WITHDRAWN':
      return reason === undefined ? 'Withdrawn' : `Withdrawn: ${reason}`
  }
}

function listTimeFacts(
  { startMs, endMs }: TimelineSpan,
  { startMs: beganMs, nowMs }: Times,
): readonly Fact[] {
  const ms = (endMs ?? Math.max(nowMs, startMs)) - startMs
  return [
    ['At', formatWhen(startMs, beganMs)],
    [endMs === undefined ? 'Elapsed' : 'Duration', formatDuration(ms)],
  ]
}

function listContentFacts(span: TimelineSpan): readonly Fact[] {
  switch (span.kind) {
    case 'model': {
      const { turn, failure } = span
      const model: Fact = ['Model', failure?.model ?? turn.model]
      if (failure !== undefined) {
        const wait = failure.retryInMs === undefined ? undefined : formatDuration(failure.retryInMs)
        return [
          model,
          ...createFact('Retry in', wait),
          ...createFact('Next model', failure.nextModel),
        ]
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
      return [['Agent', agentUri], ...createFact('Attempt', tries), ['Cost', formatMoney(costUsd)]]
    }
    case 'attempt': {
      const { usage } = span.task
      return [
        ['Tokens in', formatCount(usage.inputTokens)],
        ['Tokens out', formatCount(usage.outputTokens)],
        ['Cost', formatMoney(usage.costUsd)],
      ]
    }
    case 'review':
      return createFact('By', span.review.decidedBy)
  }
}

function createFact(name: string, value: string | undefined): readonly Fact[] {
  return value === undefined || value === '' ? [] : [[name, value]]
}

const NAMES: Readonly<Record<TimelineSpan['kind'], string>> = {
  model: 'model call',
  tool: 'tool call',
  agent: 'agent call',
  attempt: 'attempt',
  review: 'review',
}

/** Describes several spans: how many of each kind, when, and how many failed. */
export function describeBlock(
  spans: readonly TimelineSpan[],
  { startMs, nowMs }: Times,
): Description {
  const [first] = spans
  const last = spans.at(-1)
  if (first === undefined || last === undefined) return { title: 'Nothing', facts: [] }
  const kinds = [...new Set(spans.map(({ kind }) => kind))]
  const title = kinds
    .map((kind) => formatPlural(spans.filter((span) => span.kind === kind).length, NAMES[kind]))
    .join(', ')
  const failed = spans.filter(({ status }) => status === 'failed').length
  const span = (last.endMs ?? nowMs) - first.startMs
  return {
    title,
    ...(failed === 0 ? {} : { mark: 'failed', state: `${failed} failed` }),
    facts: [
      ['From', formatWhen(first.startMs, startMs)],
      ['Within', formatDuration(span)],
    ],
    note: 'Zoom in to separate them',
  }
}

/** Describes the work of a task. */
export function describeRow(row: TimelineRow, { startMs, nowMs }: Times): string {
  const { task, attempts, reviews, lanes } = row
  const [models = [], ...others] = lanes
  const calls = others.flat()
  const agents = calls.filter(({ kind }) => kind === 'agent')
  const tools = agents.length === 0 ? calls : calls.filter(({ kind }) => kind === 'tool')
  const isHeld = reviews.some(({ endMs }) => endMs === undefined)
  const heldMs = reviews.reduce((sum, review) => sum + (review.endMs ?? nowMs) - review.startMs, 0)
  const [first] = attempts
  const last = attempts.at(-1)
  const lastMs = last?.endMs ?? nowMs
  return [
    `${task.name}: ${labelTask(task, isHeld).word}`,
    first === undefined ? '' : `started ${formatOffset(first.startMs - startMs)} into the run`,
    first === undefined ? '' : `${formatDuration(lastMs - first.startMs)} long`,
    attempts.length > 1 ? formatPlural(attempts.length, 'attempt') : '',
    countWithFailures(models, 'model call'),
    countWithFailures(tools, 'tool call'),
    countWithFailures(agents, 'agent call'),
    reviews.length === 0
      ? ''
      : `waited ${formatDuration(heldMs)} for ${formatPlural(reviews.length, 'review')}`,
  ]
    .filter((part) => part !== '')
    .join(', ')
}

function countWithFailures(spans: readonly { readonly status: string }[], name: string): string {
  if (spans.length === 0) return ''
  const failed = spans.filter(({ status }) => status === 'failed').length
  return `${formatPlural(spans.length, name)}${failed === 0 ? '' : ` (${failed} failed)`}`
}
