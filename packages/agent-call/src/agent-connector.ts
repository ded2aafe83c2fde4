/**
 * The port to an agent, which connectors implement (A2A, MCP, an agent of this process, …). `agent-try.ts` implements
 * limits, modes, events and retries for all connectors.
 *
 *   connect ─▶ session ─send(turn)─▶ update … update, end        (for each turn)
 *                     └─cancel──▶ stops the agent
 */
import type { Clock, Logger, ToolContext } from '@tutti/core'
import type { Remaining } from '@tutti/core/internal'
import type { AgentToolMode, AgentToolProtocol } from '@tutti/protocol/internal'
import type { TSchema } from 'typebox'

/** Mode of a call: one answer, a stream, or a conversation. */
export type AgentMode = AgentToolMode

export type AgentProtocol = AgentToolProtocol

/** Connects to one agent. Created once for a tool; holds the resources that its calls share. */
export interface AgentConnector {
  /** Address of the agent in events and errors, without secrets. */
  readonly uri: string
  /** Protocol, as known before connecting. */
  readonly protocol: AgentProtocol
  /**
   * Time that the agent needs to stop, in milliseconds, if that is longer than the default of tools; Infinity for an
   * agent whose work has its own limits.
   */
  readonly graceMs?: number
  /**
   * Default time limit of one request in milliseconds, for agents whose requests usually take longer than those of
   * others.
   */
  readonly timeoutMs?: number
  /**
   * Opens a session for one try of a call. Must end soon after `call.signal` aborts.
   *
   * @throws {AgentError} when the agent cannot be called.
   */
  connect(call: AgentCall): Promise<AgentSession>
  /** Releases shared resources. Never rejects. */
  close?(): Promise<void>
}

/** One try of a call to an agent: one conversation. */
export interface AgentSession {
  readonly protocol: AgentProtocol
  /**
   * Sends one turn and yields updates as they arrive; the last one is `end`. The connector stores the state that
   * connects the turns of a conversation.
   *
   * @throws {AgentError} for every outcome that is not an answer.
   */
  send(turn: AgentTurn): AsyncIterable<AgentUpdate>
  /**
   * Asks the agent to stop, best effort; the connection of the turn may still be open. Must end soon after `signal`
   * aborts. Never called after the agent has completed its work.
   */
  cancel(signal: AbortSignal): Promise<void>
  /** Returns the part of an incomplete answer that has arrived. @default the chunks so far */
  partial?(): unknown
}

/** Context of one try of a call, for its connector. */
export interface AgentCall {
  readonly mode: AgentMode
  /** Aborts when the try has ended for any reason. */
  readonly signal: AbortSignal
  /** Must be called when any bytes arrive: it restarts the idle clock. */
  readonly onBytes: () => void
  /** Returns the remaining limits of the call and of those above it, to forward to the agent. */
  readonly remaining: () => Remaining
  /** W3C trace context to forward. */
  readonly traceparent: string | undefined
  /** Idempotency key, the same for all tries of this call. */
  readonly idempotencyKey: string
  /** The clock of the run. */
  readonly clock: Clock
  readonly logger: Logger
  /** Whether `requestAnswer` reaches a reviewer. */
  readonly hasReviewer: boolean
  /** Whether the tool has a `reply`, which answers questions at the end of a turn in every mode. */
  readonly hasReply: boolean
  /**
   * Asks the reviewer a question of the agent during a turn; all clocks are paused meanwhile. The question is
   * withdrawn when the try ends. A question that ends a turn is yielded as `end` instead.
   */
  readonly requestAnswer: ToolContext['requestAnswer']
}

/** One input for the agent. */
export interface AgentTurn {
  /** Any JSON. */
  readonly input: unknown
  /** From 0. */
  readonly index: number
}

/** An update of a turn. */
export type AgentUpdate =
  /** A piece of the answer or of its progress, as it arrived. */
  | { readonly kind: 'chunk'; readonly chunk: unknown; readonly usage?: AgentUsageReport }
  /** Usage without a chunk. */
  | { readonly kind: 'usage'; readonly usage: AgentUsageReport }
  /** The answer, which is the last update. */
  | AgentAnswer

/** The answer to a turn. */
export interface AgentAnswer {
  readonly kind: 'end'
  /**
   * `completed`: the agent is done. `open`: it has answered, but not reported that it is done. `input_required`: it
   * asks a question and continues with the answer.
   */
  readonly state: 'completed' | 'open' | 'input_required'
  /** The answer as a value. */
  readonly output: unknown
  /** The answer as text for a model. @default the output, as JSON if it is not text */
  readonly text?: string
  /** The question of the agent, with `input_required`. */
  readonly question?: string
  /** JSON Schema of the reply, when it is more than a text: a reviewer gets a form. */
  readonly questionSchema?: TSchema
  readonly usage?: AgentUsageReport
}

/**
 * Usage that an agent reports. Ignored are costs that are not finite or negative, and token counts that are not numbers
 * from 0 to 2^53 - 1.
 */
export interface AgentUsageReport {
  /** Since the last report, in US dollars. */
  readonly costUsd?: number
  /** Since the conversation began, in US dollars; takes precedence over `costUsd`. */
  readonly totalCostUsd?: number
  /** Since the last report. */
  readonly inputTokens?: number
  /** Since the last report. */
  readonly outputTokens?: number
  /** Input and output since the conversation began; takes precedence over the other two. */
  readonly totalTokens?: number
}
