/**
 * Wraps a storage to measure it: durations, failures, written events, lease renewals and webhook deliveries. Results and
 * their timing are unchanged.
 */
import { TuttiError, type Clock } from '@tutti/core'
import { BoundedMap } from '@tutti/core/internal'

import { OTHER } from './registry.ts'

import type { Instruments } from './instruments.ts'
import type {
  ClaimedDelivery,
  DeliveryEnd,
  HeldRun,
  RunStorage,
  WriteResult,
  CreatedRun,
  RunWrite,
} from '@tutti/runs/adapter'

/** Options of {@link measureStorage}. */
export interface MeasuringOptions {
  readonly instruments: Instruments
  readonly clock: Pick<Clock, 'elapsed'>
}

/** A completed operation. */
interface Done {
  readonly operation: string
  readonly given: readonly unknown[]
  readonly result: unknown
}

/** Returns a storage that measures the operations of another one. */
export function measureStorage(storage: RunStorage, options: MeasuringOptions): RunStorage {
  const read = createResultReader(options.instruments)
  const measured = <P extends object>(name: string, port: P): P =>
    measurePort(port, { name, read, ...options })
  return {
    runs: measured('runs', storage.runs),
    threads: measured('threads', storage.threads),
    queue: measured('queue', storage.queue),
    dispatcher: measured('dispatcher', storage.dispatcher),
    commands: measured('commands', storage.commands),
    events: measured('events', storage.events),
    outbox: measured('outbox', storage.outbox),
    audit: measured('audit', storage.audit),
    builds: measured('builds', storage.builds),
    secrets: measured('secrets', storage.secrets),
    externalEvents: measured('externalEvents', storage.externalEvents),
    schedules: measured('schedules', storage.schedules),
    memories: measured('memories', storage.memories),
    reflections: measured('reflections', storage.reflections),
    processName: storage.processName,
    isShared: storage.isShared,
    clock: storage.clock,
    get isAvailable() {
      return storage.isAvailable
    },
    listen: (listener) => storage.listen(listener),
    [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
  }
}

interface PortOptions extends MeasuringOptions {
  readonly name: string
  readonly read: (done: Done) => void
}

/** Returns a port that measures the methods of another one. Only methods that return promises are measured. */
function measurePort<P extends object>(port: P, options: PortOptions): P {
  const methods = new Map<string | symbol, unknown>()
  return new Proxy(port, {
    get(target, key) {
      const known = methods.get(key)
      if (known !== undefined) return known
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      const method = timeMethod(`${options.name}.${String(key)}`, options, (given) =>
        Reflect.apply(value, target, given),
      )
      methods.set(key, method)
      return method
    },
  })
}

function timeMethod(
  operation: string,
  { instruments, clock, read }: PortOptions,
  call: (given: readonly unknown[]) => unknown,
): (...given: readonly unknown[]) => unknown {
  const { storeDuration, storeErrors } = instruments
  return (...given) => {
    const startedAt = clock.elapsed()
    const ended = (): void => {
      storeDuration.observe({ operation }, (clock.elapsed() - startedAt) / 1_000)
    }
    const result = call(given)
    if (result instanceof Promise) {
      // Attached separately, so that the caller gets the result without delay.
      result.then(
        (value: unknown) => {
          ended()
          read({ operation, given, result: value })
        },
        (error: unknown) => {
          ended()
          const code = storeFault(error)
          if (code !== undefined) storeErrors.add({ operation, code })
          if (operation === 'queue.renew') instruments.leaseRenewals.add({ outcome: 'failed' })
        },
      )
    }
    return result
  }
}

/** Returns the code of a failure of the store; undefined for other TuttiErrors, which are regular results. */
function storeFault(error: unknown): string | undefined {
  if (!TuttiError.isInstance(error)) return OTHER
  return error.code === 'STORE_UNAVAILABLE' ? error.code : undefined
}

/** Maximum number of deliveries tracked between claim and end. */
const MAX_CLAIMED = 1_000

/** Creates the function that updates the metrics from the arguments and results of operations. */
function createResultReader(instruments: Instruments): (done: Done) => void {
  const { eventsWritten, leaseRenewals, leasesHeld, webhookAttempts } = instruments
  const webhooks = new BoundedMap<string, string>(MAX_CLAIMED)
  // NOTE: arguments and results have the types that the port declares.
  return ({ operation, given, result }) => {
    switch (operation) {
      case 'runs.create':
        if ((result as CreatedRun).kind === 'created') eventsWritten.add({})
        return
      case 'runs.commit':
        readCommit(instruments, given[0] as readonly RunWrite[], result as readonly WriteResult[])
        return
      case 'runs.commitUnowned':
        readResults(instruments, operation, [result as WriteResult])
        return
      case 'queue.renew':
        leaseRenewals.add({ outcome: 'renewed' })
        leasesHeld.set({}, (result as readonly HeldRun[]).length)
        return
      case 'outbox.claim':
        for (const { id, webhook } of result as readonly ClaimedDelivery[]) {
          webhooks.set(id, webhook)
        }
        return
      case 'outbox.settle': {
        const [{ id }, { kind }] = given as [Pick<ClaimedDelivery, 'id'>, DeliveryEnd]
        webhookAttempts.add({ webhook: webhooks.get(id) ?? OTHER, outcome: kind })
        webhooks.delete(id)
        return
      }
      default:
    }
  }
}

function readCommit(
  instruments: Instruments,
  writes: readonly RunWrite[],
  results: readonly WriteResult[],
): void {
  const events = writes.reduce((sum, write) => sum + write.events.length, 0)
  instruments.commitEvents.observe({}, events)
  instruments.commitRuns.observe({}, writes.length)
  readResults(instruments, 'runs.commit', results)
}

function readResults(
  { eventsWritten, fencedWrites, storeErrors }: Instruments,
  operation: string,
  results: readonly WriteResult[],
): void {
  for (const result of results) {
    if (result.kind === 'written') eventsWritten.add({}, result.events.length)
    else if (result.kind === 'fenced') fencedWrites.add({})
    else {
      const code = result.kind === 'unavailable' ? 'STORE_UNAVAILABLE' : OTHER
      storeErrors.add({ operation, code })
    }
  }
}
