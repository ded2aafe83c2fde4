/** Span of a whole run. */
import { SpanKind } from '@opentelemetry/api'
import { readRunOutput } from '@tutti/protocol'

import { GEN_AI, TUTTI } from './attributes.ts'
import { textMessage } from './content.ts'
import { toFailedEnd } from './span-end.ts'

import type { SpanEnd } from './open-span.ts'
import type { SpanTable, TracedEvent } from './span-table.ts'
import type { RunEventOf } from '@tutti/protocol'

/** Takes an event of the run itself; returns whether it is one. */
export function takeRunEvent(table: SpanTable, event: TracedEvent): boolean {
  const { root, nowMs, captureContent, redact } = table
  switch (event.type) {
    case 'run_queued':
      if (captureContent) {
        const inputs = redact(JSON.stringify(event.inputs))
        root?.set({ [GEN_AI.inputMessages]: textMessage('user', inputs) })
      }
      return true
    case 'ensemble_started':
      root?.addEvent('tutti.run.started', nowMs)
      root?.set({ [TUTTI.queueMs]: nowMs - root.startMs, [TUTTI.taskCount]: event.totalTasks })
      return true
    case 'run_resumed':
      interrupt(table)
      root?.addEvent('tutti.run.resumed', nowMs, { 'tutti.run.epoch': event.epoch })
      return true
    case 'run_cancelling':
      root?.addEvent('tutti.run.cancelling', nowMs, { 'tutti.cancel.mode': event.mode })
      return true
    case 'ensemble_completed':
      root?.set({ [TUTTI.exitReason]: event.exitReason, [TUTTI.toolCalls]: event.totalToolCalls })
      return true
    case 'run_result':
      endRun(table, event)
      return true
    default:
      return false
  }
}

function endRun(table: SpanTable, event: RunEventOf<'run_result'>): void {
  const { root, nowMs, redact, captureContent } = table
  const { status, error, code } = event
  const isFailed = status === 'FAILED'
  const why = { code: code ?? (isFailed ? 'ENGINE_FAILED' : status), reason: error }
  const end: SpanEnd = status === 'COMPLETED' ? { endMs: nowMs } : toFailedEnd(nowMs, why, redact)
  table.endAll(status === 'COMPLETED' ? toInterruptedEnd(nowMs) : end)
  if (root === undefined) return
  root.set({ [TUTTI.runStatus]: status })
  const output = readRunOutput(event)
  if (captureContent && output !== undefined) {
    root.set({ [GEN_AI.outputMessages]: textMessage('assistant', redact(output)) })
  }
  table.end(root, end)
}

/** Ends the calls that were in flight in a lost process, at the time of the last known event. */
function interrupt(table: SpanTable): void {
  const { tasks, beforeMs } = table
  for (const attempt of tasks.values()) {
    if (attempt.chat !== undefined) table.end(attempt.chat, toInterruptedEnd(beforeMs))
    attempt.chat = undefined
  }
  for (const span of table.openSpans()) {
    if (span.kind === SpanKind.CLIENT) table.end(span, toInterruptedEnd(beforeMs))
  }
}

function toInterruptedEnd(endMs: number): SpanEnd {
  return { endMs, attributes: { [TUTTI.code]: 'INTERRUPTED' }, error: { type: 'INTERRUPTED' } }
}
