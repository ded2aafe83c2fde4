/** The settings of tools that call agents, and the contexts that their callbacks get. */
import type { ToolContext, ToolSettings } from '@tutti/core'
import {
  definitionError,
  findChoiceProblems,
  findOptionProblems,
  TOOL_SETTING_NAMES,
  type OptionNames,
  type OutputCheck,
  type ToolSchema,
  type ValueOf,
} from '@tutti/core/internal'

import type Type from 'typebox'
import type { AgentAnswer, AgentConnector, AgentMode } from './agent-connector.ts'

/** Default time limit of one request or one turn, in milliseconds. */
export const DEFAULT_AGENT_TIMEOUT_MS = 30_000

/** Default time without a byte after which a stream is ended, in milliseconds. */
export const DEFAULT_IDLE_TIMEOUT_MS = 30_000

/** Default maximum number of turns of a conversation. */
export const DEFAULT_MAX_TURNS = 5

/** Limits of a call to an agent. A breach ends the call and cancels the agent. */
export interface AgentLimits {
  /**
   * Time limit from the moment of sending: of the request, of each turn of a conversation, or of a whole stream.
   * In milliseconds; Infinity for no limit. @default 30000, 1800000 for a task of a peer, none for streaming
   */
  readonly timeoutMs?: number
  /**
   * Maximum time without a byte, from the moment of sending, in milliseconds; Infinity for no limit.
   * @default 30000 for streaming, none for the others
   */
  readonly idleTimeoutMs?: number
  /** Maximum cost of all tries together in US dollars; counts the cost that the agent reports. @default none */
  readonly maxCostUsd?: number
  /** Maximum input and output tokens of all tries together; counts those that the agent reports. @default none */
  readonly maxTokens?: number
}

export interface AnsweredTurn extends Omit<AgentAnswer, 'kind' | 'usage' | 'text'> {
  /** From 0. */
  readonly index: number
  readonly input: unknown
  /** The answer as text. */
  readonly text: string
}

/** Context of a call to an agent, without approval: its input cannot be edited, so no type depends on it. */
export type AgentToolContext = Omit<ToolContext, 'requestApproval'>

/** Returns the next input for an agent that has answered and is not done; undefined ends the call. */
export type AgentReply = (turn: AnsweredTurn, context: AgentToolContext) => unknown

/** Settings of every tool that calls an agent. */
export interface AgentToolSettings<Input = unknown>
  extends Omit<ToolSettings<Input>, 'timeoutMs'>, AgentLimits {
  /** One request and one answer, a stream of chunks, or a conversation of several turns. @default sync */
  readonly mode?: AgentMode
  /** Maximum number of turns of a call. @default 5 */
  readonly maxTurns?: number
  /**
   * Answers an agent that is not done. Without it a question of the agent goes to the reviewer, if there is one; in
   * a conversation any other answer is sent back to the agent.
   */
  readonly reply?: AgentReply
  /** Maximum number of retries after a failure that may be temporary. @default 0 */
  readonly retries?: number
  /**
   * Delay before the first retry in milliseconds; it doubles with each retry. A delay that the agent asks for takes
   * precedence. @default 500
   */
  readonly retryDelayMs?: number
  /**
   * Whether a call whose outcome is unknown, because its process was lost, may be repeated although the agent may
   * have completed it. @default false
   */
  readonly idempotent?: boolean
}

/** Definition of a tool that calls an agent. */
export interface AgentToolDefinition<
  Input extends ToolSchema = Type.TString,
  Output extends ToolSchema = Type.TString,
> extends AgentToolSettings<ValueOf<Input>> {
  /** Connects to the agent. */
  readonly connector: AgentConnector
  /** Object schema of the input. @default one text, named `input` */
  readonly input?: Input
  /** Maps the input to the input of the agent. @default the input itself */
  readonly request?: (input: ValueOf<Input>) => unknown
  /** Schema of the answer, when it is more than text; an answer that is JSON text is parsed. */
  readonly output?: Output
  /** Whether an answer that does not match `output` is logged as a warning or fails the call. @default warn */
  readonly outputCheck?: OutputCheck
}

/** Names of the options of {@link AgentToolDefinition}. */
export const AGENT_TOOL_NAMES = {
  ...TOOL_SETTING_NAMES,
  idleTimeoutMs: true,
  maxCostUsd: true,
  maxTokens: true,
  mode: true,
  maxTurns: true,
  reply: true,
  retries: true,
  retryDelayMs: true,
  connector: true,
  input: true,
  request: true,
  output: true,
  outputCheck: true,
} as const satisfies OptionNames<AgentToolDefinition<ToolSchema, ToolSchema>>

/** Settings with their defaults applied. */
export interface ResolvedAgentSettings extends Required<AgentLimits> {
  readonly name: string
  readonly connector: AgentConnector
  readonly mode: AgentMode
  readonly maxTurns: number
  readonly reply: AgentReply | undefined
  readonly retries: number
  readonly retryDelayMs: number
  /** Whether a text answer is parsed as JSON. */
  readonly wantsValue: boolean
}

/**
 * Resolves the settings of a definition.
 *
 * @throws {TypeError} naming every invalid option.
 */
export function resolveAgentSettings(
  definition: Omit<AgentToolDefinition<ToolSchema, ToolSchema>, 'request'>,
): ResolvedAgentSettings {
  const { name, connector, mode = 'sync', maxTurns = DEFAULT_MAX_TURNS, reply } = definition
  const isStreaming = mode === 'streaming'
  const { timeoutMs: requestTimeoutMs = DEFAULT_AGENT_TIMEOUT_MS } = connector
  const settings: ResolvedAgentSettings = {
    name,
    connector,
    mode,
    maxTurns,
    reply,
    retries: definition.retries ?? 0,
    retryDelayMs: definition.retryDelayMs ?? 500,
    timeoutMs: definition.timeoutMs ?? (isStreaming ? Infinity : requestTimeoutMs),
    idleTimeoutMs: definition.idleTimeoutMs ?? (isStreaming ? DEFAULT_IDLE_TIMEOUT_MS : Infinity),
    maxCostUsd: definition.maxCostUsd ?? Infinity,
    maxTokens: definition.maxTokens ?? Infinity,
    wantsValue: definition.output !== undefined,
  }
  const problems = [
    ...findOptionProblems(definition, AGENT_TOOL_NAMES),
    ...findLimitProblems(settings),
  ]
  if (problems.length === 0) return settings
  throw definitionError(`Cannot define agent tool ${JSON.stringify(name)}: ${problems.join('; ')}`)
}

const MODES: readonly AgentMode[] = ['sync', 'streaming', 'conversational']

function findLimitProblems(settings: ResolvedAgentSettings): readonly string[] {
  const { mode, maxTurns, retries, retryDelayMs } = settings
  const limits = ['timeoutMs', 'idleTimeoutMs', 'maxCostUsd', 'maxTokens'] as const
  return [
    ...findChoiceProblems('mode', mode, MODES),
    ...limits.flatMap((name) =>
      settings[name] > 0 ? [] : [`${name} must be > 0, got ${settings[name]}`],
    ),
    ...(Number.isInteger(maxTurns) && maxTurns >= 1
      ? []
      : [`maxTurns must be an integer >= 1, got ${maxTurns}`]),
    ...(Number.isInteger(retries) && retries >= 0
      ? []
      : [`retries must be an integer >= 0, got ${retries}`]),
    ...(retryDelayMs >= 0 ? [] : [`retryDelayMs must be >= 0, got ${retryDelayMs}`]),
  ]
}
