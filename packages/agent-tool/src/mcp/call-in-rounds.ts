/**
 * Calling an MCP tool, and again with answers as long as its server wants more: so do servers of today ask,
 * which cannot send a request of their own. Those of before answer once.
 */
import { sleep } from '@tutti/core'
import { AgentError, type AgentCall } from '@tutti/agent-call'

import { requestMeta } from './mcp-usage.ts'
import { isObject, type McpArguments } from './tool-arguments.ts'

import type {
  CallToolResult,
  Client,
  InputRequiredResult,
  Progress,
  Tool,
} from '@modelcontextprotocol/client'
import type { Elicited } from './elicitation.ts'
import type { CallScope } from './open-calls.ts'

/** What a call needs. */
export interface RoundsOptions extends Pick<CallScope, 'ask'> {
  readonly client: Client
  readonly tool: Tool
  readonly args: McpArguments
  readonly call: Pick<AgentCall, 'clock' | 'remaining' | 'traceparent'>
  /** Aborts the call. */
  readonly signal: AbortSignal
  readonly onProgress: (progress: Progress) => void
}

/** Times that a call is made again with answers, at most: a server may never have enough. */
const MAX_ROUNDS = 100

/** Wait before a call is made again that wants nothing but that, the first time; it doubles up to the longest. */
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 8_000

/** No limit of the client's own: whoever calls has one, and the client's would end calls at 60 s. */
const LONGEST_TIMER_MS = 2_147_483_647

/** The result of the last round. */
export async function callInRounds(options: RoundsOptions): Promise<CallToolResult> {
  const { tool, call, signal } = options
  let more: Readonly<Record<string, unknown>> = {}
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const result = await callOnce(options, more)
    if (!isInputRequired(result)) return result
    const { inputRequests = {}, requestState } = result
    const inputResponses = await answersTo(inputRequests, options)
    if (inputResponses === undefined) await sleep(call.clock, pauseMs(round), signal)
    more = {
      ...(inputResponses === undefined ? {} : { inputResponses }),
      ...(requestState === undefined ? {} : { requestState }),
    }
  }
  throw new AgentError(
    `MCP tool "${tool.name}" wanted to be called more than ${MAX_ROUNDS} times for one answer`,
    { failureType: 'invalid_response', retryable: false },
  )
}

async function callOnce(
  { client, tool, args, call, signal, onProgress }: RoundsOptions,
  more: Readonly<Record<string, unknown>>,
): Promise<CallToolResult | InputRequiredResult> {
  // What the tool says of its output is not checked here: that is for the schema of whoever asks.
  const { name, outputSchema: _unchecked, ...described } = tool
  const params = { name, arguments: args, _meta: requestMeta(call), ...more }
  // With `allowInputRequired` the result may also be a question.
  return client.callTool(params, {
    signal,
    onprogress: onProgress,
    resetTimeoutOnProgress: true,
    timeout: LONGEST_TIMER_MS,
    maxTotalTimeout: LONGEST_TIMER_MS,
    allowInputRequired: true,
    toolDefinition: { ...described, name },
  })
}

/** What is asked for in a result, one after the other; undefined when nothing is. */
async function answersTo(
  requests: NonNullable<InputRequiredResult['inputRequests']>,
  { tool, ask, signal }: RoundsOptions,
): Promise<Readonly<Record<string, Elicited>> | undefined> {
  const answers: Record<string, Elicited> = {}
  for (const [key, { method, params }] of Object.entries(requests)) {
    const isForm = method === 'elicitation/create' && 'requestedSchema' in params
    if (!isForm) throw cannotAnswer(tool.name, method, params)
    answers[key] = await ask(params, signal)
  }
  return Object.keys(answers).length === 0 ? undefined : answers
}

function cannotAnswer(name: string, method: string, params: unknown): AgentError {
  const isUrl = isObject(params) && typeof params['url'] === 'string'
  const what = isUrl ? 'that a page be opened' : method
  const message = `MCP tool "${name}" asks for ${what}, which it cannot have; only values are given`
  return new AgentError(message, { failureType: 'input_required', retryable: false })
}

function isInputRequired(
  result: CallToolResult | InputRequiredResult,
): result is InputRequiredResult {
  return 'resultType' in result && result.resultType === 'input_required'
}

function pauseMs(round: number): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** round)
}
