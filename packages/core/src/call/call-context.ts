/**
 * Context of a tool body.
 *
 * Most bodies use little of it, so expensive members (the signal, the functions) are created on first use.
 */
import { systemClock, type Clock } from '../clock.ts'
import { BEGIN, type BeginContext } from '../tool/begin.ts'
import { requestAnswer, requestApproval } from './request-approval.ts'
import { runStep, type RunCall } from './run-step.ts'
import { silentLogger, type Logger } from '../logger.ts'
import { childTraceparent } from '../trace-context.ts'
import { callListener, type RunningCall } from './running-call.ts'

import type { CallerRequest } from '../tool/caller-request.ts'
import type { Answer, AnswerOptions } from '../tool/approval.ts'
import type { ToolSchema } from '../tool/tool-schema.ts'
import type { ToolContext, ToolMeter } from '../tool/tool.ts'

/** {@link ToolContext} of a call in flight. */
export class CallContext implements ToolContext, BeginContext {
  readonly callId: string
  readonly idempotencyKey: string
  readonly agentRole: string
  readonly logger: Logger
  declare readonly taskName?: string
  declare readonly runId?: string
  declare readonly request?: CallerRequest
  readonly #running: RunningCall
  readonly #runCall: RunCall
  #span: string | undefined

  constructor(running: RunningCall, runCall: RunCall) {
    const { call, options } = running
    this.callId = call.id
    this.idempotencyKey = running.idempotencyKey
    this.agentRole = options.agentRole ?? 'unknown'
    this.logger = options.logger ?? silentLogger
    if (options.taskName !== undefined) this.taskName = options.taskName
    if (options.runId !== undefined) this.runId = options.runId
    if (options.request !== undefined) this.request = options.request
    this.#running = running
    this.#runCall = runCall
  }

  [BEGIN](): Promise<void> | undefined {
    return this.#running.begin()
  }

  get signal(): AbortSignal {
    return this.#running.signal
  }

  get clock(): Clock {
    return this.#running.options.clock ?? systemClock
  }

  get hasReviewer(): boolean {
    return this.#running.options.reviewer !== undefined
  }

  get metrics(): ToolMeter {
    const { tool, options } = this.#running
    const labels = { toolName: tool.name, agentRole: this.agentRole }
    return {
      increment: (name, by = 1) => {
        callListener(options, 'metrics', () => options.metrics?.increment(labels, name, by))
      },
      record: (name, value) => {
        callListener(options, 'metrics', () => options.metrics?.record(labels, name, value))
      },
    }
  }

  get reportProgress(): ToolContext['reportProgress'] {
    return (progress) => {
      const { call, options, over } = this.#running
      if (over) return
      const report = typeof progress === 'string' ? { message: progress } : progress
      callListener(options, 'onProgress', () => options.onProgress?.(call, report))
    }
  }

  get reportFileChange(): ToolContext['reportFileChange'] {
    return (change) => {
      const { call, options } = this.#running
      callListener(options, 'onFileChange', () => options.onFileChange?.(call, change))
    }
  }

  get requestApproval(): ToolContext['requestApproval'] {
    return (description, options) => requestApproval(this.#running, description, options)
  }

  get traceparent(): string | undefined {
    const { traceparent } = this.#running.options
    if (this.#span !== undefined || traceparent === undefined) return this.#span
    this.#span =
      typeof traceparent === 'string' ? childTraceparent(traceparent) : traceparent(this.callId)
    return this.#span
  }

  get tracestate(): string | undefined {
    const { traceparent, tracestate } = this.#running.options
    return traceparent === undefined ? undefined : tracestate
  }

  get requestAnswer(): ToolContext['requestAnswer'] {
    const ask = (question: string, options?: AnswerOptions<ToolSchema>): Promise<Answer<unknown>> =>
      requestAnswer(this.#running, question, options)
    // NOTE: the answer was read by the schema, so it has its type.
    return ask as ToolContext['requestAnswer']
  }

  get reportAgent(): ToolContext['reportAgent'] {
    return (report) => {
      const { call, options, over } = this.#running
      if (over) return
      callListener(options, 'onAgentReport', () => {
        options.onAgentReport?.(call, { ...report, timestamp_ms: this.clock.now() })
      })
    }
  }

  get remaining(): ToolContext['remaining'] {
    return () => this.#running.remaining()
  }

  get callTool(): ToolContext['callTool'] {
    return (tool, input, options) =>
      runStep(this.#running, { tool, input, ...options }, this.#runCall)
  }
}
