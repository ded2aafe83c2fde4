/**
 * Decides which process to wake for runs that became ready (RUNS-L14).
 *
 *   a run became ready ─▶ this process, if it can take the run
 *                      └▶ otherwise another one, chosen by the statement that notifies it
 *
 * What this process can take is what its lease says since its last claim or renewal. If that is no longer true when it is
 * woken, it wakes another one in turn. A wake-up is a hint: a run for which no process was woken is found by a poll.
 */
import type { AddressedNotification } from '../ports/notifications.ts'
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

/** Wakes processes for runs. */
export class ProcessWaker {
  readonly #notifications: Pick<PostgresNotifications, 'notify'>
  readonly #sender: Pick<NotificationSender, 'send'>
  #own: ProcessOffer = { hasFreeSlot: false, ensembles: [] }

  constructor(parts: {
    readonly notifications: Pick<PostgresNotifications, 'notify'>
    readonly sender: Pick<NotificationSender, 'send'>
  }) {
    this.#notifications = parts.notifications
    this.#sender = parts.sender
  }

  /** Remembers what this process can take on. */
  setOwn(own: ProcessOffer): void {
    this.#own = own
  }

  /**
   * Wakes a process for each run that became ready, given the ensembles of these runs. Other notifications of the same
   * change are sent with the wake-up, because readers expect those of a run in their order.
   */
  wake(ensembles: readonly string[], others: readonly AddressedNotification[] = []): void {
    const elsewhere = ensembles.filter((ensemble) => !this.#takes(ensemble))
    if (elsewhere.length < ensembles.length) this.#notifications.notify([{ kind: 'ready' }])
    this.#sender.send(others, elsewhere)
  }

  /**
   * Wakes other processes for each ensemble, because this one has no slot left for its due runs. Each of them does the
   * same, so that many runs reach many processes in few steps.
   */
  passOn(ensembles: readonly string[]): void {
    this.#sender.send(
      [],
      ensembles.flatMap((ensemble) => Array.from({ length: PASSED_TO }, () => ensemble)),
    )
  }

  #takes(ensemble: string): boolean {
    const { hasFreeSlot, ensembles } = this.#own
    return hasFreeSlot && ensembles?.includes(ensemble) !== false
  }
}
