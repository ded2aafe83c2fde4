/**
 * The port to an agent somewhere: what a connector (A2A, MCP, an agent of this process, …) is asked and what
 * it tells. The limits, the modes, the events and the retries of a call are not its business: those are
 * `agent-try.ts`'s, the same for all.
 *
 *   connect ─▶ session ─send(turn)─▶ update … update, end        (for each turn)
 *                     └─cancel──▶ the agent is told to stop
 */
import type { Clock, Logger, Remaining, ToolContext } from '@tutti/core'
import type { AgentToolMode, AgentToolProtocol } from '@tutti/protocol'
import type { TSchema } from 'typebox'

/** How an agent is asked. */
export type AgentMode = AgentToolMode

/** What an agent is spoken to in. */
export type AgentProtocol = AgentToolProtocol

/** A way to one agent. It is made once for a tool, and keeps what calls can share. */
export interface AgentConnector {
  /** Where the agent is, as events and errors show it: without secrets. */
  readonly uri: string
  /** What it is spoken to in, as far as that is known before it was connected to. */
  readonly protocol: AgentProtocol
  /**
   * How long the agent may take to stop when it is told to, in milliseconds, where that is longer than other
   * tools are given: Infinity for one whose work has limits of its own.
   */
  readonly graceMs?: number
  /**
   * Time limit of one request when the tool sets none, in milliseconds, for agents whose requests usually take
   * longer than those of others.
   */
  readonly timeoutMs?: number
  /**
   * Gets ready to ask the agent, for one try of a call. Must end soon after `call.signal` aborts.
   *
   * @throws {AgentError} when the agent cannot be asked.
   */
  connect(call: AgentCall): Promise<AgentSession>
  /** Lets go of what calls shared. Never rejects. */
  close?(): Promise<void>
}

/** One try of a call to an agent: one conversation. */
export interface AgentSession {
  readonly protocol: AgentProtocol
  /**
   * Sends one turn. What comes is told as it arrives; the last update is `end`. Turns follow one another: the
   * connector keeps what ties them together.
   *
   * @throws {AgentError} for everything that is no answer.
   */
  send(turn: AgentTurn): AsyncIterable<AgentUpdate>
  /**
   * Tells the agent to stop, best effort: the connection of the turn may still be open. Must end soon after
   * `signal` aborts. Never called for an agent that has answered.
   */
  cancel(signal: AbortSignal): Promise<void>
  /** What has arrived of an answer that is not whole. @default the chunks so far */
  partial?(): unknown
}

/** What a try of a call gives a connector. */
export interface AgentCall {
  readonly mode: AgentMode
  /** Aborts when the try is over, in whatever way: nothing is needed any more then. */
  readonly signal: AbortSignal
  /** To be told whenever bytes arrive, whatever they are: the idle clock starts anew. */
  readonly onBytes: () => void
  /** What the call may still use at this moment, by its own limits and those above; for the agent to know. */
  readonly remaining: () => Remaining
  /** W3C trace context to hand on. */
  readonly traceparent: string | undefined
  /** The same for every time that this call is made, also by a retry. */
  readonly idempotencyKey: string
  /** Time, as the run measures it. */
  readonly clock: Clock
  readonly logger: Logger
  /** Whether there is somebody to ask. */
  readonly hasReviewer: boolean
  /** Whether the author of the tool answers questions that end a turn, whatever the mode. */
  readonly hasReply: boolean
  /**
   * Brings a question of the agent to the reviewer, while a turn is under way; all clocks stand still
   * meanwhile. The question is taken back when the try is over. For a question that ends a turn, tell it with
   * `end`.
   */
  readonly requestAnswer: ToolContext['requestAnswer']
}

/** What is sent. */
export interface AgentTurn {
  /** Any JSON. */
  readonly input: unknown
  /** From 0. */
  readonly index: number
}

/** What a connector tells while a turn is under way. */
export type AgentUpdate =
  /** A piece of the answer, or news of it, as it came. */
  | { readonly kind: 'chunk'; readonly chunk: unknown; readonly usage?: AgentUsageReport }
  /** Only what was used. */
  | { readonly kind: 'usage'; readonly usage: AgentUsageReport }
  /** The turn was answered; nothing comes after it. */
  | AgentAnswer

/** How a turn was answered. */
export interface AgentAnswer {
  readonly kind: 'end'
  /**
   * `completed`: the agent is done. `open`: it has answered, and did not say that it is done. `input_required`:
   * it asks something, and goes on when it is answered.
   */
  readonly state: 'completed' | 'open' | 'input_required'
  /** The answer as a value. */
  readonly output: unknown
  /** The answer as text for a model. @default the output, if need be as JSON */
  readonly text?: string
  /** What the agent asks; with `input_required`. */
  readonly question?: string
  /** JSON Schema of the answer, where it is more than a text: a reviewer gets a form. */
  readonly questionSchema?: TSchema
  readonly usage?: AgentUsageReport
}

/** What an agent says of what it used; numbers that are not finite, or less than 0, are ignored. */
export interface AgentUsageReport {
  /** Since the last report, in US dollars. */
  readonly costUsd?: number
  /** Since the conversation began, in US dollars; counts before `costUsd`. */
  readonly totalCostUsd?: number
  /** Since the last report. */
  readonly inputTokens?: number
  /** Since the last report. */
  readonly outputTokens?: number
  /** Since the conversation began, read and written together; counts before the other two. */
  readonly totalTokens?: number
}
