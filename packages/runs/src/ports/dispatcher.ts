/**
 * Decides which process should try to execute which run. The store alone decides who may write to a run (`RunQueue`), so
 * a dispatcher may be late, repeat itself or forget: a run that is offered twice is claimed once, and a run that is not
 * offered is found by a poll of the store.
 *
 *   a run becomes ready ─▶ OfferOutbox ─ offer ─▶ engine ─ take ─▶ RunQueue.claimOffered ─▶ the run executes
 *                                                   ▲                                          │
 *                                                   └────── heartbeat, return, wakeAt ─────────┘
 *
 * The dispatcher of a store takes and claims in one statement: the rows of its runs are the offers. The dispatcher of
 * another engine takes offers from the engine and claims each in the store.
 *
 * RUNS-DP1 Every run that `take` returns is claimed in the store, within its limit, and is executed by one process.
 * RUNS-DP2 A run that becomes ready is offered. The offer is stored in the transaction that makes the run ready, and is
 *    removed when the engine has it.
 * RUNS-DP3 A process takes offers of the claim keys that it knows, and at most as many as it wants.
 * RUNS-DP4 An offer that was taken is offered again when its process has sent no heartbeat for `leaseMs`.
 * RUNS-DP5 An offer is for one claim. A run that is released, or lost, becomes ready with another offer.
 * RUNS-DP6 While the engine cannot be reached, and for runs that it does not offer, `take` takes from the store.
 * RUNS-DP7 A run that waits for a person does not count toward the engine's limit.
 */
import type { ClaimedRun, ClaimRequest, HeldRun, Offer } from './run-queue.ts'

/** Version of `Dispatcher`, `Notifications` and `OfferOutbox`. It is raised when an implementation has to change. */
export const DISPATCHER_VERSION = 1

/** Offers runs to processes. */
export interface Dispatcher {
  readonly version: typeof DISPATCHER_VERSION
  /** The engine and its state, for people. */
  readonly engine: EngineState
  /**
   * Takes due runs, claims them in the store and returns them: as many as the caller wants, within the limit, and fewer
   * if the engine has offered fewer. Returns undefined if it did not ask the store; the lease of the caller is then as
   * before. When more runs can be taken later, the listeners of the storage receive `ready`.
   */
  take(request: ClaimRequest): Promise<readonly ClaimedRun[] | undefined>
  /** Offers the runs in the outbox, soon. */
  offer(): void
  /** Reports that these runs still execute here. */
  heartbeat(held: readonly Pick<HeldRun, 'runId'>[]): void
  /** Reports that a run no longer counts toward the limit: it was released, has ended, or waits for a person. */
  return(runId: string): void
  /** Offers a parked run when its time limit has passed. A poll of the store finds it if the offer is lost. */
  wakeAt(offer: Offer, inMs: number): void
  /** Takes no further offers. Those that were not claimed go to other processes. */
  stop(): void
}

/** The engine of a dispatcher. */
export interface EngineState {
  /** Its name, such as `nats`; `store` for the store itself. */
  readonly name: string
  /** Whether the engine dispatches now; otherwise the store does. */
  readonly isConnected: boolean
}

/** The offers that have not reached the engine. */
export interface OfferOutbox {
  /** Claims the oldest offers for a second. An offer that is not settled by then can be claimed again. */
  claim(limit: number): Promise<readonly StoredOffer[]>
  /** Removes offers that the engine has. */
  settle(offers: readonly StoredOffer[]): Promise<void>
}

/** An offer in the outbox. */
export interface StoredOffer extends Offer {
  /** Identifies the offer, however often it is claimed. It never recurs, even after a failover that loses changes. */
  readonly offerId: string
}

/** Returns the dispatcher of a store, whose rows are the offers. */
export function storeDispatcher(
  take: (request: ClaimRequest) => Promise<readonly ClaimedRun[]>,
): Dispatcher {
  return {
    version: DISPATCHER_VERSION,
    engine: { name: 'store', isConnected: true },
    take,
    offer: () => undefined,
    heartbeat: () => undefined,
    return: () => undefined,
    wakeAt: () => undefined,
    stop: () => undefined,
  }
}
