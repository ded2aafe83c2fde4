/** Pure: maps the events of a run to progress for an MCP client. */
import { RunProjection, type RunEvent } from '@tutti/protocol'
import type { TaskOperation } from '@tutti/protocol/internal'

import { formatCounts, GroupProgress } from '../runs/group-progress.ts'

/** Progress of a run. */
export interface RunNote {
  /** Grows with each note; whole numbers count completed tasks. */
  readonly progress: number
  /** Number of tasks of the run; 0 while unknown. */
  readonly total: number
  readonly message: string
}

/** Progress notes of one run. */
export interface RunNotes {
  /** Takes the next event and returns its note; undefined for most events. */
  add(event: RunEvent): RunNote | undefined
  /** Returns a note without an event, for clients that end silent calls. */
  heartbeat(): RunNote
}

/** Creates the notes of one run. */
export function runNotes(): RunNotes {
  const run = new RunProjection()
  const groups = new GroupProgress()
  let done = 0
  let total = 0
  let notes = 0
  // Between two tasks, progress approaches the next whole number and never reaches it.
  const say = (message: string): RunNote => {
    const progress = done + 1 - 1 / (notes + 1)
    notes += 1
    return { progress, total: Math.max(total, Math.ceil(progress)), message }
  }
  return {
    heartbeat: () => say(total === 0 ? 'queued' : `running: ${done} of ${total} tasks completed`),
    add(event) {
      if ('totalTasks' in event) total = Math.max(total, event.totalTasks)
      const tasks = run.take(event).filter((operation) => operation.type === 'task')
      const completed = tasks.find(({ status }) => status === 'COMPLETED')
      if (completed !== undefined) {
        done += 1
        notes = 0
      }
      const group = groups.take(event)
      if (group !== undefined) {
        return group.counts === undefined ? undefined : say(formatCounts(group.counts))
      }
      if (completed !== undefined) {
        return say(`"${completed.name}" completed: ${done} of ${Math.max(total, done)}`)
      }
      const message = tasks.map(describeTask).at(-1) ?? describeEvent(event)
      return message === undefined ? undefined : say(message)
    },
  }
}

function describeTask({ name, status, reason }: TaskOperation): string | undefined {
  switch (status) {
    case 'RUNNING':
      return `"${name}" started`
    case 'RETRYING':
      return `"${name}" failed: ${reason}; retrying`
    case 'FAILED':
      return `"${name}" failed: ${reason}`
    default:
      return undefined
  }
}

/** Number of chunks per note: an agent may stream word by word. */
const CHUNKS_A_NOTE = 10

function describeEvent(event: RunEvent): string | undefined {
  switch (event.type) {
    case 'ensemble_started':
      return `"${event.ensemble}" started: ${event.totalTasks} tasks`
    case 'delegation_started':
      return event.handoff === undefined
        ? undefined
        : `"${event.taskName}" handed off to ${event.workerRole}`
    case 'tool_progress':
      return `"${event.taskName}" ${event.toolName}: ${event.message}`
    case 'agent_tool_progress':
      return event.chunk_index % CHUNKS_A_NOTE === 0
        ? `"${event.taskName}" ${event.toolName}: ${event.chunk_index + 1} chunks received`
        : undefined
    case 'agent_tool_turn':
      return event.direction === 'inbound'
        ? `"${event.taskName}" ${event.toolName}: turn ${event.turn + 1} answered`
        : undefined
    case 'review_requested':
      return `"${event.taskName}" is waiting for a review: decide it with POST /api/reviews/${event.reviewId}`
    case 'review_decided':
      return `Review decided: ${event.decision}`
    case 'review_timed_out':
      return `Review timed out: ${event.action}`
    default:
      return undefined
  }
}
