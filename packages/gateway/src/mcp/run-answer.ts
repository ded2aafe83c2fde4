/** Pure: how a run ended, and what it has used, as the result of the call that made it. */
import { NO_USAGE, usageAfter, usageMetadata } from '../a2a/usage.ts'

import type { CallToolResult } from '@modelcontextprotocol/server'
import type { RunEvent, RunEventOf } from '@tutti/protocol'

/** Takes in the events of a run in order, and has the answer when the run has ended. */
export interface RunAnswer {
  add(event: RunEvent): void
  /** Undefined before the run has ended. */
  result(): CallToolResult | undefined
}

/** Makes the reader of one run; `valueTask` is the task whose output as a value is that of the run. */
export function runAnswer(runId: string, valueTask: string | undefined): RunAnswer {
  let value: { readonly structured: unknown } | undefined
  let result: CallToolResult | undefined
  let usage = NO_USAGE
  return {
    add(event) {
      usage = usageAfter(usage, event)
      if (event.type === 'task_completed' && event.taskName === valueTask) {
        const { structuredOutput: structured } = event
        value = structured === undefined ? undefined : { structured }
      }
      if (event.type !== 'run_result') return
      const end = event.status === 'COMPLETED' ? completed(event, value) : broken(event)
      result = usage === NO_USAGE ? end : { ...end, _meta: usageMetadata(usage) }
    },
    result: () => result,
  }

  function completed({ outputs, status }: End, structured: object | undefined): CallToolResult {
    const output = outputs.at(-1)?.output ?? ''
    return {
      content: [{ type: 'text', text: output === '' ? 'The run was completed' : output }],
      structuredContent: { output, runId, status, ...structured },
    }
  }

  function broken({ status, outputs, error = `The run was ${status}` }: End): CallToolResult {
    const done = outputs.map(({ taskName, output }) => ({ taskName, output }))
    const failed = status === 'FAILED' ? 'The run failed' : 'The run was cancelled'
    const texts = [
      `${failed} (${runId})${status === 'FAILED' ? `: ${error}` : ''}`,
      ...done.map(({ taskName, output }) => `Completed before that, "${taskName}":\n${output}`),
    ]
    return {
      isError: true,
      content: texts.map((text) => ({ type: 'text', text })),
      structuredContent: {
        output: done.at(-1)?.output ?? '',
        runId,
        status,
        error: status === 'FAILED' ? error : failed,
        completedTasks: done,
      },
    }
  }
}

type End = RunEventOf<'run_result'>
