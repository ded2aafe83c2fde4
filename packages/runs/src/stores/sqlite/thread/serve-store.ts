/**
 * Serves the embedded store in its thread: executes the calls of messages and sends back their results.
 *
 * RUNS-TH1 Calls begin in the order in which they were sent. The results of one transaction go back in one message.
 * RUNS-TH2 The thread has no clock: the present is that of the last message.
 */
import { callStore, openSqliteStore, type SqliteStore } from '../open-store.ts'
import { encodeError } from './encode-error.ts'

import type { QueueSource } from '../../../load/fair-queue.ts'
import type { StoreNotification } from '../../../ports/notifications.ts'
import type { Call, FromThread, LogLine, Result, ThreadData, ToThread } from './messages.ts'
import type { Logger } from '@tutti/core'
import type { MessagePort } from 'node:worker_threads'

/** Opens the store and serves it until it gets `close`. */
export function serveStore(
  port: Pick<MessagePort, 'postMessage' | 'on' | 'close'>,
  { directory, synchronous }: ThreadData,
): void {
  const send = (message: FromThread): void => {
    port.postMessage(message)
  }
  const outbox = new Outbox(send)
  let present = 0
  let source: QueueSource = { key: '', connection: 0 }
  let store: SqliteStore
  try {
    store = openSqliteStore(directory, {
      clock: { now: () => present },
      synchronous,
      logger: lineLogger((line) => {
        outbox.log(line)
      }),
      source: () => source,
      // Nothing but calls of the store waits for this thread.
      pause: 1,
    })
  } catch (error) {
    send({ kind: 'failed', error: encodeError(error) })
    port.close()
    return
  }
  store.hub.listen((notification) => {
    outbox.notify(notification)
  })
  const execute = (call: Call): void => {
    source = call
    callStore(store, call).then(
      (value) => {
        outbox.reply({ id: call.id, value })
      },
      (error: unknown) => {
        outbox.reply({ id: call.id, error: encodeError(error) })
      },
    )
  }
  port.on('message', (message: ToThread) => {
    if (message.kind === 'calls') {
      present = message.now
      message.calls.forEach(execute)
      return
    }
    const end = closeStore(store)
    // The results of what was still written come first.
    setImmediate(() => {
      send(end)
      port.close()
    })
  })
  send({ kind: 'opened' })
}

function closeStore(store: SqliteStore): FromThread {
  try {
    store.close()
    return { kind: 'closed' }
  } catch (error) {
    return { kind: 'failed', error: encodeError(error) }
  }
}

/** Collects what goes back, and sends it when the turn of the event loop has settled all that it can. */
class Outbox {
  readonly #send: (message: FromThread) => void
  #results: Result[] = []
  #notifications: StoreNotification[] = []
  #lines: LogLine[] = []
  #isScheduled = false

  constructor(send: (message: FromThread) => void) {
    this.#send = send
  }

  reply(result: Result): void {
    this.#results.push(result)
    this.#sendSoon()
  }

  notify(notification: StoreNotification): void {
    this.#notifications.push(notification)
    this.#sendSoon()
  }

  log(line: LogLine): void {
    this.#lines.push(line)
    this.#sendSoon()
  }

  #sendSoon(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    // Runs after all microtasks, and before the next transaction.
    queueMicrotask(() => {
      process.nextTick(() => {
        this.#sendNow()
      })
    })
  }

  #sendNow(): void {
    this.#isScheduled = false
    const message = {
      kind: 'results',
      results: this.#results,
      notifications: this.#notifications,
      lines: this.#lines,
    } as const
    this.#results = []
    this.#notifications = []
    this.#lines = []
    this.#send(message)
  }
}

/** Returns a logger that passes its lines on. */
function lineLogger(add: (line: LogLine) => void): Logger {
  const log =
    (level: keyof Logger): Logger[typeof level] =>
    (message, fields) => {
      add({ level, message, fields })
    }
  return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }
}
