/**
 * Receives external events, pairs them with waits, and sends each as the decision of its wait.
 *
 *   receive ─▶ add ─┐
 *   wait opens ─────┼─▶ assign ─▶ decide under the id of the event ─┬─ recorded: delivered, in that write
 *   sweep ──────────┘                                               ├─ data refused: the wait stays open
 *                                                                   └─ wait closed: the event is free again
 *
 * RUNS-EV8 An event is stored before its sender gets a response.
 * RUNS-EV9 A decision is sent under the id of its event, so that it counts once, however many processes send it. What a crash
 *    leaves assigned or free, a sweep finds.
 * RUNS-EV10 An event with data that its wait does not accept is refused. The sender gets the problems if the wait was open;
 *    otherwise they are stored with the event.
 */
import { createLimiter, TuttiError, type Limiter } from '@tutti/core'
import { formatExactJson, parseExactJson, sleep, toPlainJson } from '@tutti/core/internal'

import { field } from '../domain/field.ts'
import { eventRunEnded } from '../domain/refusals.ts'

import type { LoggedRunEvent } from '@tutti/protocol'
import type { AwaitedEvent } from '@tutti/protocol/internal'
import type {
  AssignedEvent,
  ExternalEventState,
  NewExternalEvent,
} from '../ports/external-events.ts'
import type { RunStorage } from '../ports/run-storage.ts'
import type { ResolvedRunServiceOptions } from '../settings/options.ts'
import type { RunCommands } from './run-commands.ts'

/** Maximum size of the data of an event, in bytes of JSON. */
const MAX_EXTERNAL_EVENT_BYTES = 262_144

/** Interval of the sweep, in milliseconds. */
export const SWEEP_EVENTS_MS = 5_000

/** Number of events deleted at a time. */
const TRIM_BATCH = 1_000

/** Maximum number of times in a row that events which a closed wait gave back are paired again. */
const MAX_ROUNDS = 10

/**
 * Maximum number of events whose data is in memory while they are sent to their waits, for a sweep and for all others: 16 MiB at
 * most.
 */
const MAX_SENDING = 32

/** An external event as its sender sends it. */
export interface ReceivedEvent extends Omit<NewExternalEvent, 'data' | 'id'> {
  /** Id chosen by the sender, under which the event counts once. @default a random one */
  readonly id?: string
  /** JSON; null when absent. */
  readonly data?: unknown
}

/** Progress of a received event. */
export type ReceivedState = Exclude<ExternalEventState, { readonly kind: 'refused' }>

/** Outcome of sending an event to its wait. */
type Sent = 'done' | 'freed' | 'pending'

export interface RunExternalEventsOptions {
  readonly storage: Pick<RunStorage, 'externalEvents'>
  readonly settings: Pick<
    ResolvedRunServiceOptions,
    'clock' | 'logger' | 'maxStoredEvents' | 'maxStoredEventAgeMs'
  >
  readonly commands: Pick<RunCommands, 'send'>
}

/** The external events of a service. */
export class RunExternalEvents {
  readonly #options: RunExternalEventsOptions
  /** Decisions in flight, by the id of their event. */
  readonly #sending = new Map<string, Promise<Sent>>()
  readonly #limiter = createLimiter({ maxConcurrent: MAX_SENDING })
  /** Sweeps have their own slots: an owner that has died holds a slot until its run has another owner. */
  readonly #sweepLimiter = createLimiter({ maxConcurrent: MAX_SENDING })

  constructor(options: RunExternalEventsOptions) {
    this.#options = options
  }

  /**
   * Stores an event and delivers it if a wait is open for it. Resolves with its id and its progress.
   *
   * @throws {TuttiError} PAYLOAD_TOO_LARGE; IDEMPOTENCY_CONFLICT if the id has another event; RUN_NOT_FOUND; RUN_COMPLETED;
   * EVENT_REFUSED with the problems of its data, if the wait does not accept it; EVENTS_FULL if too many stored events have no
   * wait, of all senders or of this one; STORE_UNAVAILABLE.
   */
  async receive(
    event: ReceivedEvent,
  ): Promise<{ readonly id: string; readonly state: ReceivedState }> {
    const { storage, settings } = this.#options
    const { externalEvents: store } = storage
    const { maxStoredEvents } = settings
    const { id = crypto.randomUUID(), name, key, runId, sender } = event
    const data = formatExactJson(event.data ?? null) ?? 'null'
    const bytes = Buffer.byteLength(data)
    if (bytes > MAX_EXTERNAL_EVENT_BYTES) {
      throw new TuttiError(
        'PAYLOAD_TOO_LARGE',
        `The data of an event must have at most ${MAX_EXTERNAL_EVENT_BYTES} bytes, got ${bytes}`,
      )
    }
    const added = await store.add(
      {
        id,
        name,
        data,
        ...field('key', key),
        ...field('runId', runId),
        ...field('sender', sender),
      },
      maxStoredEvents,
    )
    switch (added.kind) {
      case 'conflict':
        throw new TuttiError('IDEMPOTENCY_CONFLICT', `Another event has the id "${id}"`)
      case 'run_not_found':
        throw new TuttiError('RUN_NOT_FOUND', `No run with ID ${runId}`)
      case 'run_ended':
        throw eventRunEnded(runId ?? '', name)
      case 'full':
        throw new TuttiError(
          'EVENTS_FULL',
          `Cannot store event "${name}": nothing waits for it. At most ${maxStoredEvents} such events are stored, ` +
            'and one sender can fill half of the room that the others leave',
        )
      default:
    }
    const isOpen = added.state.kind === 'free' || added.state.kind === 'assigned'
    if (isOpen) await this.#deliver([{ name, ...field('key', key) }])
    const state = isOpen ? await store.state(id) : added.state
    if (state?.kind === 'refused') {
      // The sender knows, and may send other data under the id.
      if (added.kind === 'added') await store.remove(id)
      throw new TuttiError('EVENT_REFUSED', `Event "${name}" was refused: ${state.reason}`, {
        details: { problems: [{ path: '/data', message: state.reason }] },
      })
    }
    return { id, state: state ?? { kind: 'free' } }
  }

  /** Returns the progress of an event; undefined for an unknown id. */
  state(id: string): Promise<ExternalEventState | undefined> {
    return this.#options.storage.externalEvents.state(id)
  }

  /** Time for which the id of an event that is not for one run is known, in milliseconds. */
  get maxAgeMs(): number {
    return this.#options.settings.maxStoredEventAgeMs
  }

  /** Delivers stored events to the waits that open with these durable events. */
  onWritten(events: readonly LoggedRunEvent[]): void {
    const awaited = events.flatMap((event) =>
      event.type === 'review_requested' ? (event.waitsFor ?? []) : [],
    )
    if (awaited.length === 0) return
    this.#deliver(awaited).catch((error: unknown) => {
      // The sweep tries again.
      this.#options.settings.logger.warn('Failed to deliver events to a new wait', { error })
    })
  }

  /**
   * Pairs and delivers all events that can be. Resolves after `SWEEP_EVENTS_MS` at the latest, so that decisions which their
   * runs do not confirm hold up no later sweep; their delivery continues.
   */
  async sweep(): Promise<void> {
    const { clock, logger } = this.#options.settings
    const timer = new AbortController()
    const delivery = this.#deliver(undefined).finally(() => {
      timer.abort()
    })
    const isHeld = sleep(clock, SWEEP_EVENTS_MS, timer.signal).then(
      () => true,
      () => false,
    )
    if (!(await isHeld)) return delivery
    delivery.catch((error: unknown) => {
      logger.warn('Failed to deliver external events', { error })
    })
  }

  /** Deletes events that are older than their retention. */
  async trim(): Promise<void> {
    const { storage, settings } = this.#options
    const { maxStoredEventAgeMs } = settings
    for (;;) {
      const deleted = await storage.externalEvents.trim(maxStoredEventAgeMs, TRIM_BATCH)
      if (deleted < TRIM_BATCH) return
    }
  }

  async #deliver(awaited: readonly AwaitedEvent[] | undefined): Promise<void> {
    const { storage, settings } = this.#options
    const limiter = awaited === undefined ? this.#sweepLimiter : this.#limiter
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const assigned = await storage.externalEvents.assign(settings.clock.now(), awaited)
      const sent = await Promise.all(assigned.map((event) => this.#send(event, limiter)))
      if (!sent.includes('freed')) return
    }
  }

  /** Sends the decision of an event, once at a time. */
  #send(event: AssignedEvent, limiter: Limiter): Promise<Sent> {
    const { id } = event
    const known = this.#sending.get(id)
    if (known !== undefined) return known
    const sending = this.#decideInTurn(event, limiter).finally(() => this.#sending.delete(id))
    this.#sending.set(id, sending)
    return sending
  }

  async #decideInTurn(event: AssignedEvent, limiter: Limiter): Promise<Sent> {
    await limiter.acquire()
    try {
      return await this.#decide(event)
    } finally {
      limiter.release()
    }
  }

  async #decide({ id, name, sender, runId, reviewId }: AssignedEvent): Promise<Sent> {
    const { storage, settings, commands } = this.#options
    const { externalEvents: store } = storage
    try {
      const data = await store.data(id)
      // Deleted with its run meanwhile.
      if (data === undefined) return 'done'
      const input = toPlainJson(parseExactJson(data))
      await commands.send(runId, {
        kind: 'decide',
        reviewId,
        decision: { action: 'EDIT', input, id, event: { id, name }, ...field('decidedBy', sender) },
      })
      return 'done'
    } catch (error) {
      const { code, message } = TuttiError.from(error, 'INTERNAL')
      switch (code) {
        case 'BAD_REQUEST':
          settings.logger.warn('A wait refused an event', {
            event: id,
            name,
            runId,
            reviewId,
            message,
          })
          await store.refuse(id, message)
          return 'freed'
        case 'REVIEW_RESOLVED':
        case 'REVIEW_NOT_FOUND':
        case 'RUN_NOT_FOUND':
          await store.giveBack(id)
          return 'freed'
        default:
          // The decision is pending, or the store cannot be reached: the sweep sends it again.
          settings.logger.warn('An event is not delivered yet', {
            event: id,
            name,
            runId,
            reviewId,
            error,
          })
          return 'pending'
      }
    }
  }
}
