/**
 * A tool that asks an agent, over whatever connector.
 *
 *   input ─request─▶ what is sent ─▶ try (and again) ─▶ answer ─▶ text for the model, value
 */
import {
  TOOL_SETTING_NAMES,
  TextToolInput,
  defineTextTool,
  defineTool,
  definitionError,
  findChoiceProblems,
  findUnknownOptions,
  pickOptions,
} from '@tutti/core'
import { callAgent } from './call-agent.ts'

import type Type from 'typebox'
import type {
  OptionNames,
  OutputCheck,
  SourceOf,
  ToolContext,
  ToolSchema,
  ToolSettings,
  TypedTool,
  ValueOf,
} from '@tutti/core'
import type { AgentAnswer, AgentConnector, AgentMode } from './agent-connector.ts'

/** Time for one request, or one turn, when nothing else is said; the seed's. */
export const DEFAULT_AGENT_TIMEOUT_MS = 30_000

/** Silence after which a stream is given up when nothing else is said; the seed's. */
export const DEFAULT_IDLE_TIMEOUT_MS = 30_000

/** Turns of a conversation when nothing else is said; the seed's. */
export const DEFAULT_MAX_TURNS = 5

/** What a call to an agent may take. A breach ends it, and the agent is told to stop. */
export interface AgentLimits {
  /**
   * For sync and for each turn of a conversation, from the moment of sending; for streaming the whole stream.
   * In milliseconds; Infinity is none. @default 30000, 1800000 for a task of a peer, none for streaming
   */
  readonly timeoutMs?: number
  /**
   * How long no byte may arrive, from the moment of sending, in milliseconds; Infinity is none.
   * @default 30000 for streaming, none for the others
   */
  readonly idleTimeoutMs?: number
  /** In US dollars, as far as the agent says what it costs, all tries together. @default none */
  readonly maxCostUsd?: number
  /** Tokens read and written, as far as the agent says them, all tries together. @default none */
  readonly maxTokens?: number
}

/** A turn that was answered. */
export interface AnsweredTurn extends Omit<AgentAnswer, 'kind' | 'usage' | 'text'> {
  /** From 0. */
  readonly index: number
  readonly input: unknown
  /** The answer as text. */
  readonly text: string
}

/** The surroundings of a call to an agent. Its input is not edited on the way, so that nothing depends on its type. */
export type AgentToolContext = Omit<ToolContext, 'requestApproval'>

/** Decides what to say next to an agent that has answered and is not done; undefined ends it there. */
export type AgentReply = (turn: AnsweredTurn, context: AgentToolContext) => unknown

/** What every tool that asks an agent is told. */
export interface AgentToolSettings<Input = unknown>
  extends Omit<ToolSettings<Input>, 'timeoutMs'>, AgentLimits {
  /** One request and one answer, a stream of chunks, or turn after turn. @default sync */
  readonly mode?: AgentMode
  /** Turns of a call, at most. @default 5 */
  readonly maxTurns?: number
  /**
   * What is said next to an agent that is not done. Without it a question of the agent goes to the reviewer,
   * if there is one, and in a conversation any other answer is fed back, as the seed has it.
   */
  readonly reply?: AgentReply
  /** How often a try that failed for a reason that may pass is made again. @default 0 */
  readonly retries?: number
  /**
   * Wait before the first retry, which doubles with each, in milliseconds; an agent that says when counts
   * before it. @default 500
   */
  readonly retryDelayMs?: number
  /**
   * Whether a call whose outcome is unknown, as its process was lost, may be made again: the agent may have
   * done it all. @default false
   */
  readonly idempotent?: boolean
}

/** What the author of a tool that asks an agent writes. */
export interface AgentToolDefinition<
  Input extends ToolSchema = Type.TString,
  Output extends ToolSchema = Type.TString,
> extends AgentToolSettings<ValueOf<Input>> {
  /** The way to the agent. */
  readonly connector: AgentConnector
  /** Schema of the input, an object. @default one text, under `input` */
  readonly input?: Input
  /** What is sent for an input. @default the input itself */
  readonly request?: (input: ValueOf<Input>) => unknown
  /** Schema of the answer as a value, when it is more than text; text that is JSON is read. */
  readonly output?: Output
  /** What an answer that does not match `output` means: a warning in the log, or a failed call. @default warn */
  readonly outputCheck?: OutputCheck
}

/** The options that a tool has that asks an agent. */
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

type TextAgentTool = ToolSettings<never> &
  Pick<AgentToolDefinition<ToolSchema, ToolSchema>, 'output' | 'outputCheck'>

/** The settings of a call with every value present. */
export interface ResolvedAgentSettings extends Required<AgentLimits> {
  readonly name: string
  readonly connector: AgentConnector
  readonly mode: AgentMode
  readonly maxTurns: number
  readonly reply: AgentReply | undefined
  readonly retries: number
  readonly retryDelayMs: number
  /** Whether text is to be read as JSON, as a value is wanted. */
  readonly wantsValue: boolean
}

/**
 * Makes a tool that asks an agent.
 *
 * @throws {TypeError} naming everything that does not fit.
 */
export function defineAgentTool<
  const Input extends ToolSchema = Type.TString,
  const Output extends ToolSchema = Type.TString,
>(
  definition: AgentToolDefinition<Input, Output>,
): TypedTool<ValueOf<Input>, SourceOf<Output>, SourceOf<Input>> {
  const settings = resolve(definition)
  const { input, output, outputCheck, request = (value: unknown) => value, connector } = definition
  const { graceMs = connector.graceMs } = definition
  const tool = {
    ...pickOptions(definition, TOOL_SETTING_NAMES),
    idempotent: definition.idempotent ?? false,
    // The limits of a call to an agent are kept where the agent can be told.
    timeoutMs: Infinity,
    ...(graceMs === undefined ? {} : { graceMs }),
  }
  const checked = {
    ...(output === undefined ? {} : { output }),
    ...(outputCheck === undefined ? {} : { outputCheck }),
  }
  if (input === undefined) {
    // NOTE: without a schema the input is a text, which is the type that `Input` has then.
    const ask = (text: string, context: AgentToolContext): ReturnType<typeof callAgent> =>
      callAgent(settings, request(text as ValueOf<Input>), context)
    return textTool({ ...tool, ...checked }, ask) as TypedTool<
      ValueOf<Input>,
      SourceOf<Output>,
      SourceOf<Input>
    >
  }
  return defineTool({
    ...tool,
    ...checked,
    input,
    execute: (value, context) => callAgent(settings, request(value), context),
  })
}

/** A tool whose input is one text; one that gives a value has to be a typed tool for that. */
function textTool(
  { output, outputCheck, ...tool }: TextAgentTool,
  ask: (text: string, context: AgentToolContext) => ReturnType<typeof callAgent>,
): unknown {
  if (output === undefined) return defineTextTool({ ...tool, execute: ask })
  return defineTool({
    ...tool,
    input: TextToolInput,
    output,
    ...(outputCheck === undefined ? {} : { outputCheck }),
    execute: ({ input }, context) => ask(input, context),
  })
}

function resolve(
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
  const problems = [...findUnknownOptions(definition, AGENT_TOOL_NAMES), ...problemsOf(settings)]
  if (problems.length === 0) return settings
  throw definitionError(`Cannot define agent tool ${JSON.stringify(name)}: ${problems.join('; ')}`)
}

const MODES: readonly AgentMode[] = ['sync', 'streaming', 'conversational']

function problemsOf(settings: ResolvedAgentSettings): readonly string[] {
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
