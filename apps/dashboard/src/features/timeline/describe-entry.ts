/** Describes the entries of a timeline. Pure. */
import {
  AGENT_CALL_STATUS,
  CALL_STATUS,
  formatDirective,
  labelReview,
  labelHold,
  labelTask,
  REVIEW_TITLES,
  TURN_STATUS,
  type Shown,
} from '../../ui/labels.ts'
import {
  formatClock,
  formatCount,
  formatDuration,
  formatMoney,
  formatPlural,
} from '../../lib/format.ts'
import { formatStates } from '../../api/task-groups.ts'
import { formatOffset } from './scale.ts'

import type { EntryOf, RunEntry } from '../../api/run-entries.ts'
import type { TimelineRow } from './timeline-model.ts'
import type { AttemptUsage, TurnState } from '@tutti/protocol/internal'

/** A description: title, state, and facts as names with values. */
export interface Description {
  readonly title: string
  readonly shown?: Shown
  readonly facts: readonly Fact[]
  /** Reason of a failure, or a text; may be long. */
  readonly note?: string | null | undefined
}

type Fact = readonly [name: string, value: string]

/** Start of the run, and the current time, in milliseconds since 1970. */
export interface Times {
  readonly startMs: number
  readonly nowMs: number
}

/** Describes the entries at one position: one, or several that are too narrow to distinguish. */
export function describeEntries(entries: readonly RunEntry[], times: Times): Description {
  const [first] = entries
  if (first === undefined) return { title: formatPlural(0, 'entry', 'entries'), facts: [] }
  if (entries.length > 1) return describeBlock(entries, times)
  const { facts, ...rest } = describeEntry(first)
  return { ...rest, facts: [...listTimeFacts(first, times), ...facts] }
}

function listTimeFacts(
  { kind, startMs, endMs }: RunEntry,
  { startMs: beganMs, nowMs }: Times,
): readonly Fact[] {
  const at: Fact = ['At', formatWhen(startMs, beganMs)]
  if (kind in MARK_LABELS) return [at]
  const ms = (endMs ?? Math.max(nowMs, startMs)) - startMs
  return [at, [endMs === undefined ? 'Elapsed' : 'Duration', formatDuration(ms)]]
}

/** Labels of the entries of a whole run, in the order of the legend. */
export const MARK_LABELS: Readonly<Record<string, string>> = {
  directive: 'directive delivered',
  switch: 'model switched',
  cancel: 'cancel',
  resume: 'resumed',
}

function describeEntry(entry: RunEntry): Description {
  switch (entry.kind) {
    case 'model':
      return describeModelCall(entry)
    case 'tool': {
      const { status, name, result, progress } = entry.call
      const shown = CALL_STATUS[entry.status === 'failed' ? 'FAILED' : status]
      const note = status === 'FAILED' ? result : progress?.message
      return { title: `Tool call ${name}`, shown, facts: [], note }
    }
    case 'agent': {
      const { status, toolName, error, agentUri, retryIndex, costUsd } = entry.agentCall
      const tries = retryIndex === 0 ? undefined : String(retryIndex + 1)
      const facts = [
        ...createFact('Agent', agentUri),
        ...createFact('Attempt', tries),
        ...createFact('Cost', formatMoney(costUsd)),
      ]
      const title = `Agent called by ${toolName}`
      return { title, shown: AGENT_CALL_STATUS[status], facts, note: error }
    }
    case 'attempt': {
      const { task } = entry
      const { name, attempt, error, skipReason, usage } = task
      const title = attempt > 1 ? `${name}, attempt ${attempt}` : name
      const note = error?.reason ?? skipReason
      return { title, shown: labelTask(task, undefined), facts: listUsage(usage), note }
    }
    case 'review': {
      const { kind, prompt, feedback } = entry.review
      const note = prompt ?? feedback
      return { title: REVIEW_TITLES[kind], shown: labelReview(entry.review), facts: [], note }
    }
    case 'directive': {
      const from = createFact('From', entry.directive.from)
      const facts = [...createFact('Task', entry.target?.taskName), ...from]
      return { title: 'Directive delivered', facts, note: formatDirective(entry.directive) }
    }
    case 'switch': {
      const { model, previousModel, taskName = 'the whole run', actor } = entry.change
      const before = createFact('Before', previousModel)
      const facts = [...createFact('For', taskName), ...before, ...createFact('By', actor)]
      return { title: `Model switched to ${model}`, facts }
    }
    case 'cancel': {
      const isPatient = entry.mode === 'boundary'
      const way = isPatient ? 'letting running tasks finish' : 'stopping running work'
      return { title: `Cancel requested, ${way}`, facts: createFact('By', entry.actor) }
    }
    case 'resume':
      return { title: 'Run resumed', facts: [] }
    case 'group': {
      const { parent, count, failed } = entry
      const shown: Shown = { mark: 'failed', word: `${failed} failed` }
      const title = `${formatPlural(count, 'task')} of ${parent}`
      return { title, ...(failed === 0 ? {} : { shown }), facts: [] }
    }
  }
}

function describeModelCall({ turn, failure, status }: EntryOf<'model'>): Description {
  const title = `Model call ${turn.iterationIndex + 1}`
  const shown = TURN_STATUS[status === 'failed' ? 'FAILED' : turn.status]
  const model = createFact('Model', failure?.model ?? turn.model)
  if (failure === undefined) {
    const usage = turn.status === 'COMPLETED' ? listUsage(turn) : []
    return { title, shown, facts: [...model, ...usage] }
  }
  const { retryInMs, nextModel, reason } = failure
  const wait = retryInMs === undefined ? undefined : formatDuration(retryInMs)
  const next = [...createFact('Retry in', wait), ...createFact('Next model', nextModel)]
  return { title, shown, facts: [...model, ...next], note: reason }
}

function listUsage({ inputTokens, outputTokens, costUsd }: AttemptUsage | TurnState): Fact[] {
  return [
    ['Tokens in', formatCount(inputTokens)],
    ['Tokens out', formatCount(outputTokens)],
    ['Cost', formatMoney(costUsd)],
  ]
}

/** Formats an instant relative to the run and as a time of day. */
function formatWhen(ms: number, startMs: number): string {
  return `${formatOffset(Math.max(0, Math.round(ms - startMs)))} (${formatClock(ms)})`
}

/** Joins a description into a sentence for screen readers. */
export function joinDescription({ title, shown, facts, note }: Description): string {
  const parts = [title, shown?.word, ...facts.map(([name, value]) => `${name} ${value}`), note]
  return parts.filter((part) => part !== undefined && part !== null && part !== '').join(', ')
}

function createFact(name: string, value: string | undefined): readonly Fact[] {
  return value === undefined || value === '' ? [] : [[name, value]]
}

const NAMES: Readonly<Partial<Record<RunEntry['kind'], string>>> = {
  model: 'model call',
  tool: 'tool call',
  agent: 'agent call',
  group: 'busy period',
}

/** Describes several entries: how many of each kind, when, and how many failed. */
function describeBlock(entries: readonly RunEntry[], { startMs, nowMs }: Times): Description {
  const beganMs = entries[0]?.startMs ?? nowMs
  const ms = (entries.at(-1)?.endMs ?? nowMs) - beganMs
  const byKind = Map.groupBy(entries, ({ kind }) => kind)
  const title = [...byKind].map(([kind, all]) => formatPlural(all.length, NAMES[kind] ?? kind))
  const failed = entries.filter(({ status }) => status === 'failed').length
  return {
    title: title.join(', '),
    ...(failed === 0 ? {} : { shown: { mark: 'failed', word: `${failed} failed` } }),
    facts: [
      ['From', formatWhen(beganMs, startMs)],
      ['Within', formatDuration(ms)],
    ],
    note: 'Zoom in to separate them',
  }
}

/** Describes the work of a task. */
export function describeRow(row: TimelineRow, { startMs, nowMs }: Times): string {
  const { task, group, attempts, reviews, lanes } = row
  if (group !== undefined) {
    const state = group.view.isOpen ? 'open' : 'folded'
    return `${row.label} added by ${task.name}, ${state}: ${formatStates(group.states)}`
  }
  const [models = [], ...others] = lanes
  const calls = others.flat()
  const agents = calls.filter(({ kind }) => kind === 'agent')
  const tools = agents.length === 0 ? calls : calls.filter(({ kind }) => kind === 'tool')
  const hold = labelHold(reviews.map(({ review }) => review))
  const waits = reviews.filter(({ review }) => review.kind === 'EVENT')
  const asked = reviews.filter(({ review }) => review.kind !== 'EVENT')
  const describeHeld = (held: TimelineRow['reviews'], what: string): string =>
    held.length === 0 ? '' : `waited ${formatDuration(sumHeldMs(held, nowMs))} for ${what}`
  const [first] = attempts
  const last = attempts.at(-1)
  const lastMs = last?.endMs ?? nowMs
  return [
    `${task.name}: ${labelTask(task, hold).word}`,
    first === undefined ? '' : `started ${formatOffset(first.startMs - startMs)} into the run`,
    first === undefined ? '' : `${formatDuration(lastMs - first.startMs)} long`,
    attempts.length > 1 ? formatPlural(attempts.length, 'attempt') : '',
    countWithFailures(models, 'model call'),
    countWithFailures(tools, 'tool call'),
    countWithFailures(agents, 'agent call'),
    describeHeld(asked, formatPlural(asked.length, 'review')),
    describeHeld(waits, 'events or times'),
  ]
    .filter((part) => part !== '')
    .join(', ')
}

/** Returns the duration of reviews together, in milliseconds. */
function sumHeldMs(reviews: TimelineRow['reviews'], nowMs: number): number {
  return reviews.reduce((sum, { startMs, endMs = nowMs }) => sum + endMs - startMs, 0)
}

function countWithFailures(spans: readonly { readonly status: string }[], name: string): string {
  if (spans.length === 0) return ''
  const failed = spans.filter(({ status }) => status === 'failed').length
  return `${formatPlural(spans.length, name)}${failed === 0 ? '' : ` (${failed} failed)`}`
}
