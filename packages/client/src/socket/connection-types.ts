/** What a WebSocket connection offers, and the settings of its parts. */
import type { Hello, RunEvent, ServerMessage, SocketQuery } from '@tutti/protocol'
import type { CommandSender } from '../commands.ts'
import type { ConnectionState } from '../events/connection-state.ts'
import type { LoggedRunEventOf } from '../events/run-events.ts'
import type { CallOptions } from '../http/exchange.ts'

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

/**
 * A WebSocket that comes back by itself. It takes commands, as `over` of `runs.cancel` and the like: they go out one
 * after the other and wait while it is away, at most as long as the time limit of the call. A command whose socket is
 * lost fails with CONNECTION_FAILED, since it may have been applied. A decision resolves with the `review_decided` event
 * of its run, so that a connection that follows one run can decide only the reviews of that run. Every method throws
 * {@link TuttiClientError}.
 */
export interface TuttiConnection extends CommandSender, AsyncDisposable {
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
  /** Closes the connection; subscriptions end, and calls that wait fail with ABORTED. */
  close(): Promise<void>
}
