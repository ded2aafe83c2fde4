/** Results of calls: of ended runs, and of failed calls. */
import { RunProjection } from '@tutti/protocol'
import { NO_RUN_USAGE } from '@tutti/protocol/internal'

import { reportError, type ErrorReporting } from '../http/on-error.ts'
import { GroupProgress } from '../runs/group-progress.ts'
import { toUsageMetadata } from '../service/usage-metadata.ts'

import type { CallToolResult } from '@modelcontextprotocol/server'
import type { RunEvent, RunEventOf } from '@tutti/protocol'
import type { RunEnded } from '@tutti/protocol/internal'

/** Folds the events of a run, in order, into the result of its call. */
export interface RunAnswer {
  add(event: RunEvent): void
  /** Returns the result; undefined before the run has ended. */
  result(): CallToolResult | undefined
}

/** Creates the fold of one run; `valueTask` is the task whose structured output is that of the run. */
export function runAnswer(runId: string, valueTask: string | undefined): RunAnswer {
  const run = new RunProjection()
  const groups = new GroupProgress()
  let value: { readonly structured: unknown } | undefined
  let result: CallToolResult | undefined
  return {
    add(event) {
      groups.take(event)
      for (const operation of run.take(event)) {
        if (operation.type === 'task' && operation.name === valueTask) {
          const structured = operation.result?.structuredOutput
          value = structured === undefined ? undefined : { structured }
        }
        if (operation.type !== 'ended') continue
        const end =
          operation.status === 'COMPLETED' ? completed(operation, value) : broken(operation.event)
        result = run.usage === NO_RUN_USAGE ? end : { ...end, _meta: toUsageMetadata(run.usage) }
      }
    },
    result: () => result,
  }

  function completed(
    { status, output = '' }: RunEnded,
    structured: object | undefined,
  ): CallToolResult {
    return {
      content: [
        { type: 'text', text: output === '' ? 'The run completed without output' : output },
      ],
      structuredContent: { output, runId, status, ...structured },
    }
  }

  function broken({ status, outputs, error = `The run was ${status}` }: End): CallToolResult {
    const listed = outputs.filter(({ taskName }) => !groups.isCounted(taskName))
    const done = listed.map(({ taskName, output }) => ({ taskName, output }))
    const omitted = outputs.length - listed.length
    const failed = status === 'FAILED' ? 'The run failed' : 'The run was cancelled'
    const texts = [
      `${failed} (${runId})${status === 'FAILED' ? `: ${error}` : ''}`,
      ...done.map(({ taskName, output }) => `Output of completed task "${taskName}":\n${output}`),
      ...(omitted === 0
        ? []
        : [
            `Left out: outputs of ${omitted} more added tasks. Read them with GET /api/runs/${runId}`,
          ]),
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

/** Key in `_meta` of a result for its error, in the form of REST. */
const ERROR_META = 'tutti/error'

/**
 * Returns the result of a call that was refused or failed, with `before` as prefix of the message. Internal errors are
 * logged with the id in their message.
 */
export function errorResult(
  error: unknown,
  options: ErrorReporting,
  before?: string,
): CallToolResult {
  const { body } = reportError(error, options)
  const { retryAfterMs } = body
  const again = retryAfterMs === undefined ? '' : ` (retry in ${Math.ceil(retryAfterMs / 1000)} s)`
  const start = before === undefined ? '' : `${before}: `
  return {
    isError: true,
    content: [{ type: 'text', text: `${start}${body.message}${again}` }],
    _meta: { [ERROR_META]: { ...body } },
  }
}
