/** Pure: from the view of a task to the objects of A2A 1.0. */
import { usageMetadata } from '../service/usage.ts'
import { isTerminal } from './view.ts'

import type { OpenReview, TaskOutput, TaskView, Turn } from './view.ts'
import type { WireTask, A2aTaskStatus, Artifact, WireMessage, WirePart } from './wire.ts'
import type { RunRecord } from '@tutti/runs'

/** Tag of runs that says which context they belong to. */
export const CONTEXT_TAG = 'a2aContext'

/** Where the memo of a run of an earlier version has the message that asked for it. */
const MESSAGE_MEMO = 'a2aMessage'

/** What belongs to a task and does not change. */
export interface WireTaskIdentity {
  readonly id: string
  readonly contextId: string
  /** The message that asked for it. */
  readonly asked: WireMessage
}

/** How a task is shown to a caller. */
export interface Showing {
  /** Messages of the history, at most; all when absent. */
  readonly historyLength?: number | undefined
  /** @default true */
  readonly artifacts?: boolean
  /** Media types that the caller takes; any when empty. */
  readonly modes: readonly string[]
  /** Whether the caller is told what was used. */
  readonly usage: boolean
}

/** The facts of a task, out of the record of its run; a run that came over another wire gets a message made. */
export function identityOf({ runId, tags, inputs, request }: RunRecord): WireTaskIdentity {
  const contextId = String(tags[CONTEXT_TAG] ?? runId)
  const asked = messageIn(request) ?? {
    messageId: `${runId}-input`,
    role: 'ROLE_USER',
    parts: [{ data: { ...inputs } }],
  }
  return { id: runId, contextId, asked: { ...asked, contextId, taskId: runId } }
}

function messageIn(request: RunRecord['request']): WireMessage | undefined {
  const { origin, memo } = request ?? {}
  if (origin?.protocol === 'a2a') {
    const { protocol: _, contextId: __, requestMetadata: ___, ...message } = origin
    return { role: 'ROLE_USER', ...message }
  }
  // NOTE: only earlier versions wrote it, and they wrote a message that was checked.
  return memo?.[MESSAGE_MEMO] as WireMessage | undefined
}

/** The task as it stands. */
export function toWireTask(facts: WireTaskIdentity, view: TaskView, showing: Showing): WireTask {
  const { historyLength = Infinity, artifacts: wanted = true, modes, usage } = showing
  const history = historyLength === 0 ? [] : historyOf(facts, view).slice(-historyLength)
  const artifacts = wanted ? outputsOf(view).map((output) => toArtifact(output, modes)) : []
  return {
    id: facts.id,
    contextId: facts.contextId,
    status: wireStatusOf(facts, view),
    ...(artifacts.length === 0 ? {} : { artifacts }),
    ...(history.length === 0 ? {} : { history }),
    ...(usage ? { metadata: usageMetadata(view.usage) } : {}),
  }
}

/** Where the task stands, with its question, or why it failed. */
export function wireStatusOf(facts: WireTaskIdentity, view: TaskView): A2aTaskStatus {
  const { state, changedAt: timestamp, reviews, error } = view
  const [review] = reviews
  if (review !== undefined && state === 'TASK_STATE_INPUT_REQUIRED') {
    return { state, message: questionOf(facts, review), timestamp }
  }
  if (error === undefined) return { state, timestamp }
  const message = agentMessage(facts, `${facts.id}-error`, [{ text: error }])
  return { state, message, timestamp }
}

/** What was said: what asked for the task, then questions and answers, in order. */
function historyOf(facts: WireTaskIdentity, { turns }: TaskView): readonly WireMessage[] {
  return [facts.asked, ...turns.map((turn) => messageOf(facts, turn))]
}

function messageOf(facts: WireTaskIdentity, turn: Turn): WireMessage {
  if (turn.by === 'agent') return questionOf(facts, turn.review)
  const { id: taskId, contextId } = facts
  return {
    messageId: turn.id,
    contextId,
    taskId,
    role: 'ROLE_USER',
    parts: [{ text: turn.text }],
  }
}

function agentMessage(
  { id: taskId, contextId }: WireTaskIdentity,
  messageId: string,
  parts: readonly WirePart[],
): WireMessage {
  return { messageId, contextId, taskId, role: 'ROLE_AGENT', parts }
}

/** A gate as a question: in words for people, and as data for programs. */
function questionOf(facts: WireTaskIdentity, review: OpenReview): WireMessage {
  const { reviewId, taskName, timing, prompt, taskOutput, toolName, toolInput } = review
  const asked = prompt ?? questionText(review)
  const data = {
    reviewId,
    taskName,
    timing,
    ...(toolName === undefined ? {} : { toolName }),
    ...(toolInput === undefined ? {} : { toolInput }),
  }
  const text = taskOutput === '' ? asked : `${asked}\n\n${taskOutput}`
  return agentMessage(facts, reviewId, [{ text }, { data }])
}

/** The question of a gate for which nobody wrote one; a tool says in its own words what it asks. */
function questionText({ timing, taskName, taskDescription }: OpenReview): string {
  switch (timing) {
    case 'BEFORE_EXECUTION':
      return `May "${taskName}" begin?\n\n${taskDescription}`
    case 'DURING_EXECUTION':
      return taskDescription
    case 'AFTER_EXECUTION':
      return `Is the output of "${taskName}" right?`
  }
}

/** What the run has made: its own output. One that ended without has what its tasks had done by then. */
export function outputsOf(view: TaskView): readonly TaskOutput[] {
  const { outputs, finalTask } = view
  const final = outputs.filter(({ taskName }) => taskName === finalTask)
  return final.length > 0 || !isTerminal(view) ? final : outputs
}

/** The status of a task at work, with what one of the tasks of its run has given. */
export function progressOf(
  facts: WireTaskIdentity,
  { state, changedAt: timestamp }: TaskView,
  { taskName, text }: TaskOutput,
): A2aTaskStatus {
  const message = agentMessage(facts, `${facts.id}-${taskName}`, [{ text }])
  return { state, message, timestamp }
}

/** An output as an artifact, in the media types that a caller takes. */
export function toArtifact(
  { taskName, text, value, parts: given }: TaskOutput,
  modes: readonly string[],
): Artifact {
  if (given !== undefined) return { artifactId: taskName, name: taskName, parts: given }
  const data: WirePart = { data: value === undefined ? text : value, mediaType: 'application/json' }
  const parts = [
    ...(takes(modes, 'text/plain') ? [{ text }] : []),
    ...((value !== undefined || !takes(modes, 'text/plain')) && takes(modes, 'application/json')
      ? [data]
      : []),
  ]
  return { artifactId: taskName, name: taskName, parts: parts.length === 0 ? [{ text }] : parts }
}

/** Whether a caller that accepts `modes` takes a media type. */
export function takes(modes: readonly string[], mediaType: string): boolean {
  const [kind] = mediaType.split('/')
  const accepted = modes.map((mode) => (mode.split(';')[0] ?? '').trim().toLowerCase())
  return (
    accepted.length === 0 ||
    accepted.some((mode) => [mediaType, `${kind}/*`, '*/*', kind].includes(mode))
  )
}
