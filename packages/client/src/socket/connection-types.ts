/** What a WebSocket connection offers, and the settings of its parts. */
import type {
  CancelBody,
  Capabilities,
  DirectiveAck,
  Hello,
  ListRunsQuery,
  ReviewDecisionBody,
  RunAck,
  RunControlAck,
  RunDetail,
  RunEvent,
  RunList,
  ServerMessage,
  SocketQuery,
  SubmitRunBody,
  ToolResponse,
} from '@tutti/protocol'
import type { ConnectionState } from '../events/connection-state.ts'
import type { LoggedRunEventOf } from '../events/run-events.ts'
import type { CallOptions } from '../http/exchange.ts'
import type { ActionDirective, InjectOptions, SwitchModelOptions } from '../runs/runs-types.ts'

/** Settings of a connection. */
export interface ConnectOptions {
  /** The run that the connection is about. @default every run */
  readonly runId?: string | undefined
  /**
   * With `none` the greeting shows no runs, and no event comes that nobody subscribed to: less to send for
   * whoever reads lists and one run at a time. @default 'all'
   */
  readonly snapshot?: SocketQuery['snapshot'] | undefined
  /** Aborts the connection; what waits on it fails with ABORTED. */
  readonly signal?: AbortSignal | undefined
  /** Told when the connection opens, is lost, and is closed for good. What it throws closes it. */
  readonly onConnection?: ((state: ConnectionState) => void) | undefined
  /**
   * Told of the greeting of each socket, the first and those after a loss: the newest runs so far, unless
   * `snapshot` is `none`.
   */
  readonly onHello?: ((hello: Hello) => void) | undefined
  /** Told of every message of the server, whoever waits for it. */
  readonly onMessage?: ((message: ServerMessage) => void) | undefined
}

/** Settings of a subscription. */
export interface SubscribeOptions<T extends RunEvent['type'] = RunEvent['type']> {
  /** The run to follow. @default the run of the connection, or every run */
  readonly runId?: string | undefined
  /**
   * First `seq` to get of that run; negative counts from the end. Every run can only be followed from now
   * on. @default 0
   */
  readonly from?: number | undefined
  /** Types to get. @default all */
  readonly events?: readonly T[] | undefined
  /** Told of each event, in place of a loop. What it throws closes the connection. */
  readonly onEvent?: ((event: LoggedRunEventOf<T>) => void) | undefined
  /** Told when nothing more comes: with an error when the subscription failed. */
  readonly onEnd?: ((error?: unknown) => void) | undefined
  /**
   * Events that may wait for a loop that is slow; with more it fails with SLOW_READER. @default 10000
   */
  readonly maxWaiting?: number | undefined
}

/** Events that come over a connection. They can be looped over once. */
export interface RunSubscription<
  T extends RunEvent['type'] = RunEvent['type'],
> extends AsyncIterable<LoggedRunEventOf<T>> {
  /** Ends it; the connection stays open. Leaving a loop does the same. */
  close(): void
}

/** A run that was submitted over a connection. */
export interface SocketRun extends RunAck {
  readonly runId: string
  /** The end of the run, also when the connection is lost meanwhile. FAILED is a result too. */
  result(): Promise<LoggedRunEventOf<'run_result'>>
}

/** Settings of a submit over a connection. */
export interface SocketRunOptions extends CallOptions {
  /** With a key the request survives the loss of its connection. */
  readonly idempotencyKey?: string | undefined
}

/** Settings of a directive. */
export interface SocketInjectOptions extends InjectOptions {
  /** The run that is meant. @default the run of the connection, or every run that is at work */
  readonly runId?: string | undefined
  /** Who says it. @default not said */
  readonly from?: string | undefined
}

/**
 * A WebSocket that comes back by itself. What is asked while it is away waits for it, at most as long as
 * the time limit of the call. When the socket is lost, what only reads is asked again, and what may have
 * been done fails with CONNECTION_FAILED. Every method throws {@link TuttiClientError}.
 */
export interface TuttiConnection extends AsyncDisposable {
  /** The greeting of the socket that is open, or of the next one. */
  hello(options?: CallOptions): Promise<Hello>
  /**
   * Follows a run, or every run, in place of what was followed before: a connection has one subscription.
   * One run is followed from any place to its end, over any number of sockets, nothing missed and nothing
   * twice. Of every run it gives what happens while the connection is there; `onHello` tells the rest when
   * there is a snapshot.
   */
  subscribe<T extends RunEvent['type'] = RunEvent['type']>(
    options?: SubscribeOptions<T>,
  ): RunSubscription<T>
  /** Submits a run; it is durable when this resolves. */
  run(body: SubmitRunBody, options?: SocketRunOptions): Promise<SocketRun>
  /** Cancels a run; it is over when its `run_result` comes. */
  cancel(runId: string, options?: CallOptions & CancelBody): Promise<RunControlAck>
  /** Sends the next model calls of a run, or of one task, to the model of that alias, or to a tier. */
  switchModel(
    runId: string,
    model: string | { readonly tier: string },
    options?: SwitchModelOptions,
  ): Promise<RunControlAck>
  /** Tells the agents of runs something before their next model call, or does an action. */
  inject(content: string | ActionDirective, options?: SocketInjectOptions): Promise<DirectiveAck>
  /**
   * Decides a review; resolves when its `review_decided` comes, so that a connection that follows one run
   * can decide only the reviews of that run.
   */
  decide(
    reviewId: string,
    decision: ReviewDecisionBody,
    options?: CallOptions,
  ): Promise<LoggedRunEventOf<'review_decided'>>
  /** Calls a shared tool with text, or with an object that is sent as JSON. FAILED is an answer too. */
  invokeTool(
    name: string,
    input: string | Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ): Promise<ToolResponse>
  /** A page of runs, as `runs.list`. */
  listRuns(filter?: ListRunsQuery, options?: CallOptions): Promise<RunList>
  /** One run, as `runs.get`. */
  getRun(runId: string, options?: CallOptions): Promise<RunDetail>
  /** What the server offers. */
  capabilities(options?: CallOptions): Promise<Capabilities>
  /** Closes the connection; subscriptions end, and calls that wait fail with ABORTED. */
  close(): Promise<void>
}
