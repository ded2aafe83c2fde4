/**
 * Requests to the reviewer during a call.
 *
 * CORE-A1 No answer, a reviewer that fails and an invalid answer never count as approval.
 * CORE-A2 The time limits of the call and of all calls that it is a step of are paused while a reviewer decides.
 */
import Type, { type TSchema } from 'typebox'
import { toPlainJson } from '@tutti/protocol/internal'

import { DEFAULT_APPROVAL_TIMEOUT_MS } from '../tool/approval.ts'
import { systemClock } from '../clock.ts'
import { errorMessage, TuttiError } from '../errors.ts'
import { schemaReader } from '../input/schema-reader.ts'
import { formatInputFailure } from '../input-failure.ts'

import type {
  Answer,
  AnswerOptions,
  ApprovalAnswer,
  ApprovalDecision,
  ApprovalOptions,
  ApprovalRequest,
  Reviewer,
} from '../tool/approval.ts'
import type { AgentTool } from '../tool/tool.ts'
import type { ToolSchema } from '../tool/tool-schema.ts'
import type { Decoded } from '@tutti/protocol/internal'
import type { RunningCall } from './running-call.ts'

/** Requests approval and waits for the decision; see `requestApproval` of {@link ToolContext}. */
export async function requestApproval(
  running: RunningCall,
  description: string,
  options: ApprovalOptions = {},
): Promise<ApprovalDecision> {
  const { tool, input } = running
  const form: Form = {
    what: 'edited input',
    input,
    schema: tool.inputSchema,
    read: (edited) => tool.readInput(edited),
  }
  const decision = await decide(running, { ...options, description, form })
  if (decision.action === 'EDIT') running.recordEdit(decision.input)
  return decision
}

/** Asks a question and waits for the answer; see `requestAnswer` of {@link ToolContext}. */
export async function requestAnswer(
  running: RunningCall,
  question: string,
  { schema = ANY_TEXT, clientTool, ...options }: AnswerOptions<ToolSchema> = {},
): Promise<Answer<unknown>> {
  const { jsonSchema, read } = schemaReader(schema, { action: `Cannot request an answer: schema` })
  const input = clientTool?.input ?? null
  const form: Form = { what: 'answer', input, schema: jsonSchema, read }
  const asked = {
    ...options,
    description: question,
    form,
    asksForAnswer: true,
    clientTool: clientTool !== undefined,
  }
  const decision = await decide(running, asked)
  return decision.action === 'EDIT'
    ? { answered: true, value: decision.input }
    : { answered: false, timedOut: decision.timedOut }
}

const ANY_TEXT = Type.String()

/** Value that a reviewer can fill in. */
interface Form {
  /** Name of the value in error messages. */
  readonly what: string
  /** Initial value. */
  readonly input: unknown
  readonly schema: TSchema
  read(value: unknown): Decoded<unknown> | Promise<Decoded<unknown>>
}

interface Question extends ApprovalOptions {
  readonly description: string
  readonly form: Form
  readonly asksForAnswer?: boolean
  readonly clientTool?: boolean
  /** Withdraws the question, in addition to the signal of the call. */
  readonly signal?: AbortSignal
}

async function decide(running: RunningCall, question: Question): Promise<ApprovalDecision> {
  const { tool } = running
  const { reviewer } = running.options
  if (reviewer === undefined) {
    throw new TuttiError(
      'TOOL_CONFIGURATION',
      `Tool "${tool.name}" requires approval, but no reviewer is configured`,
    )
  }
  const signal = combineSignals(running, question)
  signal.throwIfAborted()
  const request = toApprovalRequest(running, question)
  const resume = running.pause()
  try {
    const answer = await awaitAnswer(running, reviewer, { request, signal })
    return await toDecision(tool, question, answer)
  } finally {
    resume()
  }
}

function combineSignals({ signal }: RunningCall, question: Question): AbortSignal {
  return question.signal === undefined ? signal : AbortSignal.any([signal, question.signal])
}

function toApprovalRequest(
  { tool, call, options, hasBegun, isRepeatable }: RunningCall,
  { description, form, asksForAnswer = false, clientTool = false, ...asked }: Question,
): ApprovalRequest {
  const { agentRole = 'unknown', taskName, runId, approvalDefaults = {} } = options
  const inherited = approvalDefaults.timeoutMs ?? DEFAULT_APPROVAL_TIMEOUT_MS
  // A shorter default must not make a call continue without an answer sooner than its tool expects.
  const least = asked.onTimeout === 'CONTINUE' ? DEFAULT_APPROVAL_TIMEOUT_MS : 0
  const timeoutMs = asked.timeoutMs ?? Math.max(inherited, least)
  const onTimeout = asked.onTimeout ?? approvalDefaults.onTimeout ?? 'EXIT_EARLY'
  const requiredRole = asked.requiredRole ?? approvalDefaults.requiredRole
  return {
    description,
    toolName: tool.name,
    callId: call.id,
    agentRole,
    ...(taskName === undefined ? {} : { taskName }),
    ...(runId === undefined ? {} : { runId }),
    input: toPlainJson(form.input),
    inputSchema: form.schema,
    hasBegun,
    isRepeatable,
    asksForAnswer,
    ...(clientTool ? { clientTool } : {}),
    async checkEdit(edited) {
      const decoded = await form.read(edited)
      return decoded.ok ? [] : decoded.problems
    },
    timeoutMs,
    onTimeout,
    ...(requiredRole === undefined ? {} : { requiredRole }),
  }
}

type Answered = ApprovalAnswer | { readonly action: 'TIMED_OUT'; readonly request: ApprovalRequest }

interface Asked {
  readonly request: ApprovalRequest
  /** Aborts when the answer is no longer needed. */
  readonly signal: AbortSignal
}

/**
 * Resolves with the reviewer's answer, or with TIMED_OUT after the time limit; rejects when the answer is no longer
 * needed.
 */
function awaitAnswer(
  { options }: RunningCall,
  reviewer: Reviewer,
  { request, signal }: Asked,
): Promise<Answered> {
  const { clock = systemClock } = options
  const noLongerNeeded = new AbortController()
  return new Promise<Answered>((resolve, reject) => {
    const stopTimer =
      request.timeoutMs === Infinity
        ? undefined
        : clock.after(request.timeoutMs, () => {
            settle(() => {
              resolve({ action: 'TIMED_OUT', request })
            })
          })
    const onAbort = (): void => {
      settle(() => {
        reject(asError(signal.reason))
      })
    }
    const settle = (end: () => void): void => {
      stopTimer?.()
      signal.removeEventListener('abort', onAbort)
      end()
      noLongerNeeded.abort()
    }
    signal.addEventListener('abort', onAbort, { once: true })
    askReviewer(reviewer, request, noLongerNeeded.signal).then(
      (answer) => {
        settle(() => {
          resolve(answer)
        })
      },
      (error: unknown) => {
        settle(() => {
          reject(asError(error))
        })
      },
    )
  })
}

async function askReviewer(
  reviewer: Reviewer,
  request: ApprovalRequest,
  signal: AbortSignal,
): Promise<ApprovalAnswer> {
  try {
    return await reviewer.decide(request, signal)
  } catch (error) {
    const message = `Review of tool "${request.toolName}" failed: ${errorMessage(error)}`
    throw new TuttiError('TOOL_FAILED', message, { cause: error, retryable: true })
  }
}

async function toDecision(
  tool: AgentTool,
  { form, clientTool = false }: Question,
  answer: Answered | null | undefined,
): Promise<ApprovalDecision> {
  switch (answer?.action) {
    case 'CONTINUE':
      return { action: 'CONTINUE', timedOut: false }
    case 'EDIT': {
      const decoded = await form.read(answer.input)
      if (decoded.ok) return { action: 'EDIT', input: decoded.value }
      const message = formatInputFailure(tool.name, decoded.problems, form.what)
      throw new TuttiError('TOOL_INPUT_INVALID', message, { details: { ...decoded } })
    }
    case 'REJECT':
      throw makeRejection(tool.name, answer.feedback, clientTool)
    case 'EXIT_EARLY':
      throw makeEarlyExit(`The reviewer of tool "${tool.name}" ended the run early`, false)
    case 'TIMED_OUT':
      return decideAfterTimeout(tool, answer.request)
    default:
      throw new TuttiError(
        'TOOL_FAILED',
        `The reviewer of tool "${tool.name}" returned no valid decision`,
      )
  }
}

function decideAfterTimeout(tool: AgentTool, request: ApprovalRequest): ApprovalDecision {
  const { timeoutMs, onTimeout } = request
  if (onTimeout === 'CONTINUE') return { action: 'CONTINUE', timedOut: true }
  const message = `${describeMissing(tool.name, request)} within ${timeoutMs} ms`
  throw onTimeout === 'FAIL'
    ? new TuttiError('TOOL_REJECTED', message)
    : makeEarlyExit(message, true)
}

function describeMissing(
  name: string,
  { clientTool = false, asksForAnswer = false }: ApprovalRequest,
): string {
  if (clientTool) return `The client returned no result of tool "${name}"`
  return asksForAnswer
    ? `The question of tool "${name}" was not answered`
    : `Tool "${name}" was not approved`
}

function makeEarlyExit(message: string, timedOut: boolean): TuttiError {
  return new TuttiError('EXIT_EARLY', message, { details: { timedOut } })
}

function makeRejection(
  name: string,
  feedback: string | undefined,
  clientTool: boolean,
): TuttiError {
  const why = feedback === undefined || feedback.trim() === '' ? '' : `: ${feedback}`
  const options = feedback === undefined ? {} : { details: { feedback } }
  const message = clientTool
    ? `The client could not execute the call of "${name}"${why}`
    : `The reviewer rejected the call of "${name}"${why}`
  return new TuttiError('TOOL_REJECTED', message, options)
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new DOMException(errorMessage(reason), 'AbortError')
}
