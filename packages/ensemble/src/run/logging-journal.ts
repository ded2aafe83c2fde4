/** Logs the events of a run. */
import type { Logger } from '@tutti/core'
import { limitText } from '@tutti/core/internal'

import type { RunJournal } from '../ports/run-journal.ts'
import type { RunEvent } from '@tutti/protocol'

/** Options of the log of a run. */
export interface RunLogging {
  readonly runId: string
  readonly logger: Logger
  readonly verbose: boolean
  /** Maximum length of a tool's output in characters; a negative number means no limit. */
  readonly toolLogTruncateLength: number
}

/** Wraps a journal so that a `verbose` run logs its events; failures are warnings with the message of their error. */
export function createLoggingJournal(journal: RunJournal, log: RunLogging): RunJournal {
  if (!log.verbose) return journal
  const logEvent = (event: RunEvent): void => {
    const line = toLogLine(event, log.toolLogTruncateLength)
    if (line === undefined) return
    const level = line.isFailure === true ? 'warn' : 'info'
    log.logger[level](line.message, { runId: log.runId, ...line.fields })
  }
  return {
    emit(event, step) {
      logEvent(event)
      journal.emit(event, step)
    },
    commit(step, event) {
      if (event !== undefined) logEvent(event)
      return journal.commit(step, event)
    },
  }
}

interface Line {
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly isFailure?: boolean
}

/** Returns the log line of an event; undefined for events that are too frequent or add nothing. */
function toLogLine(event: RunEvent, toolLogLength: number): Line | undefined {
  switch (event.type) {
    case 'task_started':
      return createLine('Task started', { task: event.taskName, attempt: event.attempt })
    case 'llm_iteration_completed': {
      const { taskName, iterationIndex, latencyMs, inputTokens, outputTokens } = event
      const used = { latencyMs, inputTokens, outputTokens }
      const { finishReason, responseText } = event
      const answer = { finishReason, responseText }
      return createLine('Model answered', { task: taskName, iterationIndex, ...used, ...answer })
    }
    case 'llm_iteration_failed':
      return createFailureLine('Model call failed', {
        task: event.taskName,
        code: event.code,
        reason: event.reason,
      })
    case 'tool_called': {
      const { taskName, toolName, outcome, durationMs, toolArguments, toolResult } = event
      const limit = toolLogLength < 0 ? Infinity : toolLogLength
      const result = toolResult === null ? null : limitText(toolResult, limit)
      const call = { tool: toolName, outcome, durationMs, arguments: toolArguments, result }
      return createLine('Tool called', { task: taskName, ...call })
    }
    case 'task_completed':
      return createLine('Task completed', { task: event.taskName, durationMs: event.durationMs })
    case 'task_attempt_failed':
    case 'task_failed':
      return createFailureLine('Task failed', {
        task: event.taskName,
        code: event.code,
        reason: event.reason,
      })
    case 'run_result': {
      const { status, durationMs, code, error: reason } = event
      return status === 'FAILED'
        ? createFailureLine('Run ended', { status, durationMs, code, reason })
        : createLine('Run ended', { status, durationMs })
    }
    default:
      return undefined
  }
}

function createLine(message: string, fields: Line['fields']): Line {
  return { message, fields }
}

function createFailureLine(message: string, fields: Line['fields']): Line {
  return { message, fields, isFailure: true }
}
