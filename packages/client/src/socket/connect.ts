/** Opens connections. */
import { routePath, type RunEvent } from '@tutti/protocol'
import { findExcessProblems } from '@tutti/protocol/internal'

import { openScope } from '../call-scope.ts'
import { isLogPosition, WANTED_POSITION } from '../events/log-position.ts'
import { Connection } from './connection.ts'
import { socketOpener } from './open-socket.ts'
import { commandRequest } from './socket-commands.ts'
import { Subscription } from './subscription.ts'

import type { LoggedRunEventOf } from '../events/run-events.ts'
import type { ResolvedClientOptions } from '../options.ts'
import type {
  ConnectOptions,
  RunSubscription,
  SubscribeOptions,
  TuttiConnection,
} from './connection-types.ts'

/**
 * Opens a connection, which reconnects until it is closed.
 *
 * @throws {TypeError} when `runId` is empty, or when the platform has no `WebSocket` and `openSocket` is not set.
 */
export function connect(
  settings: ResolvedClientOptions,
  options: ConnectOptions = {},
): TuttiConnection {
  const { runId: defaultRunId } = options
  if (defaultRunId !== undefined) routePath('openRunSocket', { runId: defaultRunId })
  const connection = new Connection(settings, socketOpener(settings), options)
  const close = (): Promise<void> => connection.close()
  return {
    async hello({ signal, timeoutMs = settings.timeoutMs } = {}) {
      const scope = openScope(settings.clock, [connection.signal, signal])
      const stop = scope.limit(timeoutMs, `No hello within ${timeoutMs} ms`)
      return connection.hello(scope).finally(() => {
        stop()
        scope.close()
      })
    },
    subscribe: (subscribeOptions = {}) =>
      subscribe(connection, { runId: defaultRunId, ...subscribeOptions }),
    send: async (command, call) => connection.requests.ask(commandRequest(command), call),
    close,
    [Symbol.asyncDispose]: close,
  }
}

function subscribe<T extends RunEvent['type']>(
  connection: Connection,
  { runId, from, events, onEvent, onEnd, maxWaiting }: SubscribeOptions<T>,
): RunSubscription<T> {
  assertFollowable({ runId, from, events })
  const [excess] = findExcessProblems({ maxWaiting })
  if (excess !== undefined) throw new RangeError(`Cannot subscribe: ${excess}`)
  const subscription: Subscription = new Subscription({
    runId,
    from,
    types: events,
    maxWaiting,
    // NOTE: the subscription passes on only events of the requested types.
    onEvent: onEvent && ((event) => onEvent(event as LoggedRunEventOf<T>)),
    onEnd,
    onLeave: () => {
      connection.unfollow(subscription)
    },
  })
  connection.follow(subscription)
  return {
    close() {
      connection.unfollow(subscription)
    },
    // NOTE: as above.
    [Symbol.asyncIterator]: () => subscription.read() as AsyncGenerator<LoggedRunEventOf<T>, void>,
  }
}

/** Validates the options of a subscription. @throws {TypeError | RangeError} when they are invalid. */
function assertFollowable({
  runId,
  from,
  events,
}: {
  readonly runId: string | undefined
  readonly from: number | undefined
  readonly events: readonly string[] | undefined
}): void {
  if (events?.length === 0) {
    throw new TypeError('Cannot subscribe: events must contain at least one type')
  }
  if (from === undefined) return
  if (runId === undefined) {
    throw new TypeError('Cannot subscribe: from requires a runId, because each run has its own seq')
  }
  if (!isLogPosition(from)) {
    throw new RangeError(`Cannot subscribe: ${WANTED_POSITION}, got ${from}`)
  }
}
