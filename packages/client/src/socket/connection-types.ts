/** WebSocket connections, and the options of their parts. */
import type { RunEvent, ServerMessage } from '@tutti/protocol'
import type { Hello, SocketQuery } from '@tutti/protocol/internal'
import type { CommandSender } from '../commands.ts'
import type { ConnectionState } from '../events/connection-state.ts'
import type { LoggedRunEventOf } from '../events/run-events.ts'
import type { CallOptions } from '../http/exchange.ts'

/** Selects the runs of a WebSocket connection, and receives its state and messages. */
export interface ConnectOptions {
  /** Id of the connection's run. @default every run */
  readonly runId?: string | undefined
  /**
   * With `none` the hello message contains no runs, and the socket receives no events before a subscription. Use it to
   * read lists over HTTP and follow one run at a time. @default 'all'
   */
  readonly snapshot?: SocketQuery['snapshot'] | undefined
  /** Aborts the connection; pending calls on it fail with ABORTED. */
  readonly signal?: AbortSignal | undefined
  /**
   * Called when the connection opens, is lost, and is closed finally. An exception that it throws closes the
   * connection.
   */
  readonly onConnection?: ((state: ConnectionState) => void) | undefined
  /**
   * Called with the hello message of each socket, also after a reconnect. It contains the newest runs, unless
   * `snapshot` is `none`.
   */
  readonly onHello?: ((hello: Hello) => void) | undefined
  /** Called with every message of the server. */
  readonly onMessage?: ((message: ServerMessage) => void) | undefined
}

/** Selects the events of a subscription: a run, a position in its log, and types. */
export interface SubscribeOptions<T extends RunEvent['type'] = RunEvent['type']> {
  /** The run to follow. @default the run of the connection, or every run */
  readonly runId?: string | undefined
  /**
   * First `seq` of the run to receive; a negative one counts from the end. A subscription to every run receives only
   * future events. @default 0
   */
  readonly from?: number | undefined
  /** Types to receive. @default all */
  readonly events?: readonly T[] | undefined
  /** Called with each event, instead of a loop. An exception that it throws closes the connection. */
  readonly onEvent?: ((event: LoggedRunEventOf<T>) => void) | undefined
  /** Called when the subscription ends, with an error if it failed. */
  readonly onEnd?: ((error?: unknown) => void) | undefined
  /** Maximum number of events that may wait for a slow loop; more fail it with SLOW_READER. @default 10000 */
  readonly maxWaiting?: number | undefined
}

/** Events of a subscription. They can be looped over once. */
export interface RunSubscription<
  T extends RunEvent['type'] = RunEvent['type'],
> extends AsyncIterable<LoggedRunEventOf<T>> {
  /** Ends the subscription; the connection stays open. Leaving a loop does the same. */
  close(): void
}

/**
 * A WebSocket connection that reconnects automatically. As the `over` option of commands such as `runs.cancel`, it
 * sends them; while the socket is down they wait, up to the time limit of the call. A command whose socket is lost fails
 * with CONNECTION_FAILED, since it may have been applied. Every method throws {@link TuttiClientError}.
 */
export interface TuttiConnection extends CommandSender, AsyncDisposable {
  /** Returns the hello message of the open socket, or of the next one. */
  hello(options?: CallOptions): Promise<Hello>
  /**
   * Follows one run or every run, and ends the previous subscription: a connection has one. A subscription to one run
   * receives every event from any position to the end, each once, over any number of sockets. A subscription to every
   * run receives the events that occur while the socket is open; with a snapshot, `onHello` receives the earlier state.
   */
  subscribe<T extends RunEvent['type'] = RunEvent['type']>(
    options?: SubscribeOptions<T>,
  ): RunSubscription<T>
  /** Closes the connection; subscriptions end, and pending calls fail with ABORTED. */
  close(): Promise<void>
}
