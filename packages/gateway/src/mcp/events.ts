/** Pure: from the events of a run to the progress that an MCP client gets. */
import type { RunEvent } from '@tutti/protocol'

/** Progress of a run. */
export interface RunNote {
  /** Grows with each note; whole numbers count completed tasks. */
  readonly progress: number
  /** Number of tasks of the run; 0 while unknown. */
  readonly total: number
  readonly message: string
}

/** Notes on one run. */
export interface RunNotes {
  /** Returns the note on the next event; undefined for most. */
  add(event: RunEvent): RunNote | undefined
  /** Returns a note that nothing has happened, for clients that end silent calls. */
  heartbeat(): RunNote
}

/** Returns the notes on one run. */
export function runNotes(): RunNotes {
  let done = 0
  let total = 0
  let notes = 0
  // Between two tasks the notes close in on the next whole number and never reach it.
  const say = (message: string): RunNote => {
    const progress = done + 1 - 1 / (notes + 1)
    notes += 1
    return { progress, total: Math.max(total, Math.ceil(progress)), message }
  }
  return {
    heartbeat: () => say(total === 0 ? 'queued' : `running: ${done} of ${total} tasks completed`),
    add(event) {
      if ('totalTasks' in event) total = Math.max(total, event.totalTasks)
      if (event.type !== 'task_completed') {
        const message = describeEvent(event)
        return message === undefined ? undefined : say(message)
      }
      done += 1
      notes = 0
      return say(`"${event.taskName}" completed: ${done} of ${Math.max(total, done)}`)
    },
  }
}

/** An agent may stream word by word: so many chunks are worth one note. */
const CHUNKS_A_NOTE = 10

function describeEvent(event: RunEvent): string | undefined {
  switch (event.type) {
    case 'ensemble_started':
      return `"${event.ensemble}" started: ${event.totalTasks} tasks`
    case 'task_started':
      return `"${event.taskName}" started`
    case 'task_attempt_failed':
    case 'task_failed':
      return `"${event.taskName}" failed: ${event.reason}${event.willRetry ? '; retrying' : ''}`
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
