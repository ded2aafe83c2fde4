/** Pure: converts the view of a task to the objects of A2A 1.0. */
import { CALLER_REVIEW_KINDS } from '@tutti/protocol/internal'

import { toUsageMetadata } from '../service/usage-metadata.ts'
import { isTerminal, toTaskState, type TaskView } from './view.ts'

import { describeCancel } from '../service/describe-cancel.ts'

import type { WireTask, A2aTaskStatus, Artifact, WireMessage, WirePart } from './wire.ts'
import type { ReviewState, TaskOutput } from '@tutti/protocol/internal'
import type { Redactor } from '../http/on-error.ts'
import type { RunRecord } from '@tutti/runs/adapter'

/** Tag of runs with their context. */
export const CONTEXT_TAG = 'a2aContext'

/** Fields of a task that do not change. */
export interface WireTaskIdentity {
  readonly id: string
  readonly contextId: string
  /** Message that began the task. */
  readonly asked: WireMessage
}

/** Form in which a caller receives a task. */
export interface Showing {
  /** Maximum number of messages in the history. @default all */
  readonly historyLength?: number | undefined
  /** Whether the task has its artifacts. @default true */
  readonly artifacts?: boolean
  /** Media types that the caller accepts; any when empty. */
  readonly modes: readonly string[]
  /** Whether the task has its usage in its metadata. */
  readonly usage: boolean
}

/**
 * Returns the identity of the task of a run, with its message without secrets. A run that was submitted over another wire
 * gets a message with its inputs.
 */
export function toTaskIdentity(
  { runId, tags, inputs, request }: RunRecord,
  redactor: Redactor,
): WireTaskIdentity {
  const contextId = String(tags[CONTEXT_TAG] ?? runId)
  const asked = readOriginMessage(request) ?? {
    messageId: `${runId}-input`,
    role: 'ROLE_USER',
    parts: [{ data: { ...inputs } }],
  }
  return { id: runId, contextId, asked: { ...redactor.value(asked), contextId, taskId: runId } }
}

function readOriginMessage(request: RunRecord['request']): WireMessage | undefined {
  const origin = request?.origin
  if (origin?.protocol !== 'a2a') return undefined
  const { protocol: _, contextId: __, requestMetadata: ___, ...message } = origin
  return { role: 'ROLE_USER', ...message }
}

/** Converts a view to a task. */
export function toWireTask(identity: WireTaskIdentity, view: TaskView, showing: Showing): WireTask {
  const { historyLength = Infinity, artifacts: wanted = true, modes, usage } = showing
  const history = historyLength === 0 ? [] : toHistory(identity, view).slice(-historyLength)
  const artifacts = wanted ? listOutputs(view).map((output) => toArtifact(output, modes)) : []
  return {
    id: identity.id,
    contextId: identity.contextId,
    status: toWireStatus(identity, view),
    ...(artifacts.length === 0 ? {} : { artifacts }),
    ...(history.length === 0 ? {} : { history }),
    ...(usage ? { metadata: toUsageMetadata(view.usage) } : {}),
  }
}

/** Returns the status of a task, with its question or its error. */
export function toWireStatus(identity: WireTaskIdentity, view: TaskView): A2aTaskStatus {
  const { changedAt: timestamp, question: review } = view
  const state = toTaskState(view)
  if (review !== undefined && state === 'TASK_STATE_INPUT_REQUIRED') {
    return { state, message: toQuestion(identity, review), timestamp }
  }
  const problem = view.facts.error?.message ?? describeEnd(view)
  if (problem === undefined) return { state, timestamp }
  const message = agentMessage(identity, `${identity.id}-error`, [{ text: problem }])
  return { state, message, timestamp }
}

/** Returns why a run was cancelled without a request to cancel it; undefined for other runs. */
function describeEnd({ end, facts: { cancel } }: TaskView): string | undefined {
  const isRequested = cancel?.cause === 'CALLER' || cancel?.cause === 'SERVER'
  return end !== 'CANCELLED' || isRequested ? undefined : describeCancel(cancel)
}

/** Returns the message that began the task, then questions, answers and guidance by time. */
function toHistory(identity: WireTaskIdentity, { history }: TaskView): readonly WireMessage[] {
  const reviews = history.reviews.flatMap((review) => {
    const { reviewId, kind, requestedAt, decidedAt } = review
    if (!CALLER_REVIEW_KINDS.includes(kind)) return []
    const question = { at: requestedAt, message: toQuestion(identity, review) }
    if (decidedAt === undefined) return [question]
    const answer = userMessage(identity, `${reviewId}-answer`, formatDecision(review))
    return [question, { at: decidedAt, message: answer }]
  })
  const guidance = history.directives.map(({ directiveId, content = '', activeAt }) => ({
    at: activeAt,
    message: userMessage(identity, directiveId, content),
  }))
  const inOrder = [...reviews, ...guidance].toSorted((a, b) => parseTime(a) - parseTime(b))
  return [identity.asked, ...inOrder.map(({ message }) => message)]
}

function parseTime({ at }: { readonly at: string }): number {
  return Date.parse(at)
}

function formatDecision({ decision, feedback, revisedOutput = '' }: ReviewState): string {
  if (decision === 'EDIT') return revisedOutput
  return feedback === undefined ? String(decision) : `${decision}: ${feedback}`
}

function userMessage(
  { id: taskId, contextId }: WireTaskIdentity,
  messageId: string,
  text: string,
): WireMessage {
  return { messageId, contextId, taskId, role: 'ROLE_USER', parts: [{ text }] }
}

function agentMessage(
  { id: taskId, contextId }: WireTaskIdentity,
  messageId: string,
  parts: readonly WirePart[],
): WireMessage {
  return { messageId, contextId, taskId, role: 'ROLE_AGENT', parts }
}

/** Returns a review as a question: as text for people, and as data for programs. */
function toQuestion(identity: WireTaskIdentity, review: ReviewState): WireMessage {
  const { reviewId, taskName, kind, timing, prompt, taskOutput } = review
  const { toolName, toolInput, answerSchema } = review
  const asked = prompt ?? formatQuestion(review)
  const data = {
    reviewId,
    taskName,
    kind,
    timing,
    ...(toolName === undefined ? {} : { toolName }),
    ...(toolInput === undefined ? {} : { toolInput }),
    ...(answerSchema === undefined ? {} : { answerSchema }),
  }
  const text = taskOutput === '' ? asked : `${asked}\n\n${taskOutput}`
  return agentMessage(identity, reviewId, [{ text }, { data }])
}

/** Returns the question of a review without a prompt; that of a tool call is its description. */
function formatQuestion({ timing, taskName, taskDescription }: ReviewState): string {
  switch (timing) {
    case 'BEFORE_EXECUTION':
      return `Start "${taskName}"?\n\n${taskDescription}`
    case 'DURING_EXECUTION':
      return taskDescription
    case 'AFTER_EXECUTION':
      return `Accept this output of "${taskName}"?`
  }
}

/** Returns the output of the run; if it ended without one, the outputs of its tasks. */
export function listOutputs(view: TaskView): readonly TaskOutput[] {
  if (view.output !== undefined) return [view.output]
  return isTerminal(toTaskState(view)) ? view.outputs : []
}

/** Returns the status of a working task, with the output of one task of its run. */
export function toProgressStatus(
  identity: WireTaskIdentity,
  view: TaskView,
  { taskName, output: text }: TaskOutput,
): A2aTaskStatus {
  const message = agentMessage(identity, `${identity.id}-${taskName}`, [{ text }])
  return { state: toTaskState(view), message, timestamp: view.changedAt }
}

/** Returns an output as an artifact, in the media types that a caller accepts. */
export function toArtifact(
  { taskName, output: text, structuredOutput: value, parts: given }: TaskOutput,
  modes: readonly string[],
): Artifact {
  if (given !== undefined) return { artifactId: taskName, name: taskName, parts: given }
  const data: WirePart = { data: value === undefined ? text : value, mediaType: 'application/json' }
  const parts = [
    ...(acceptsMediaType(modes, 'text/plain') ? [{ text }] : []),
    ...((value !== undefined || !acceptsMediaType(modes, 'text/plain')) &&
    acceptsMediaType(modes, 'application/json')
      ? [data]
      : []),
  ]
  return { artifactId: taskName, name: taskName, parts: parts.length === 0 ? [{ text }] : parts }
}

/** Whether a caller that accepts `modes` takes a media type. */
export function acceptsMediaType(modes: readonly string[], mediaType: string): boolean {
  const [kind] = mediaType.split('/')
  const accepted = modes.map((mode) => (mode.split(';')[0] ?? '').trim().toLowerCase())
  return (
    accepted.length === 0 ||
    accepted.some((mode) => [mediaType, `${kind}/*`, '*/*', kind].includes(mode))
  )
}
