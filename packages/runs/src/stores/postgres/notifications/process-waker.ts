/**
 * Decides which process to wake for runs that became ready (RUNS-L14).
 *
 *   a run became ready ─▶ this process, if it can take the run
 *                      └▶ otherwise another one, chosen by the statement that notifies it
 *
 * What this process can take is what its lease says since its last claim or renewal, or that it has
 * ended a run since. If that is no longer true when it is woken, it wakes another one in turn. A wake-up is a hint: a run for
 * which no process was woken is found by a poll. An engine, while it can be reached, offers the runs instead.
 */
import type { DispatchEngine } from '../../../ports/dispatch-engine.ts'
import type { AddressedNotification } from '../../../ports/notifications.ts'
import type { NotificationSender } from './notification-sender.ts'
import type { PostgresNotifications } from './notifications.ts'

/** The runs that a process can take on. */
export interface ProcessOffer {
  readonly hasFreeSlot: boolean
  /** Ensembles that it can execute; undefined for all. */
  readonly ensembles: readonly string[] | undefined
}

/** Number of processes that a full process wakes for further due runs of an ensemble. */
const PASSED_TO = 2

/** The parts of a {@link ProcessWaker}. */
export interface ProcessWakerParts {
  readonly notifications: Pick<PostgresNotifications, 'notify'>
  readonly sender: Pick<NotificationSender, 'send'>
  /** Returns the engine that offers runs in place of wake-ups, if there is one. */
  readonly findEngine?: () => DispatchEngine | undefined
}

/** Wakes processes for runs. */
export class ProcessWaker {
  readonly #parts: ProcessWakerParts
  #own: ProcessOffer = { hasFreeSlot: false, ensembles: [] }

  constructor(parts: ProcessWakerParts) {
    this.#parts = parts
  }

  /** Remembers what this process can take on. */
  setOwn(own: ProcessOffer): void {
    this.#own = own
  }

  /** Remembers that a run of this process has ended, whose slot is free for the next one. */
  onRunEnded(): void {
    this.#own = { ...this.#own, hasFreeSlot: true }
  }

  /**
   * Wakes a process for each run that became ready, given the ensembles of these runs. Other notifications of the same
   * change are sent with the wake-up, because readers expect those of a run in their order.
   */
  wake(ensembles: readonly string[], others: readonly AddressedNotification[] = []): void {
    const { notifications, sender } = this.#parts
    const engine = this.#engine
    if (engine !== undefined) {
      engine.notifications.send(others)
      if (ensembles.length > 0) engine.dispatcher.offer()
      return
    }
    const elsewhere = ensembles.filter((ensemble) => !this.#takes(ensemble))
    if (elsewhere.length < ensembles.length) notifications.notify([{ kind: 'ready' }])
    sender.send(others, elsewhere)
  }

  /**
   * Wakes other processes for each ensemble, because this one has no slot left for its due runs. Each of them does the
   * same, so that many runs reach many processes in few steps.
   */
  passOn(ensembles: readonly string[]): void {
    if (this.#engine !== undefined) return
    this.#parts.sender.send(
      [],
      ensembles.flatMap((ensemble) => Array.from({ length: PASSED_TO }, () => ensemble)),
    )
  }

  /** The engine, if it offers runs now. */
  get #engine(): DispatchEngine | undefined {
    const engine = this.#parts.findEngine?.()
    return engine?.dispatcher.engine.isConnected === true ? engine : undefined
  }

  #takes(ensemble: string): boolean {
    const { hasFreeSlot, ensembles } = this.#own
    return hasFreeSlot && ensembles?.includes(ensemble) !== false
  }
}
