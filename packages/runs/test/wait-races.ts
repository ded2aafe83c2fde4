/**
 * Generates races for waits from seeds, lets them happen on a store, and checks the record afterwards.
 *
 * The processes of a race die between two of their writes and are replaced. Between their writes they pause, so that the
 * writes of all actors mix in many orders.
 */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'

import { TuttiError } from '@tutti/core'
import { isTerminalRunStatus, type LoggedRunEvent } from '@tutti/protocol'
import { createRunService, type RunService, type RunServiceOptions } from '@tutti/runs'

import { until } from '../../../tooling/test-kit/wait.ts'
import { createRandom } from '../../ensemble/test/task-graphs.ts'
import { mortalStorage, type MortalStorage } from './mortal-storage.ts'
import { NAME, RACE_SETTINGS, RACING, type PlannedWait } from './racing-ensemble.ts'
import { allEvents } from './waiting-ensemble.ts'

import type { RunStorage } from '@tutti/runs/adapter'
import type { ReceivedEvent, RunExternalEvents } from '../src/service/external-events.ts'
import type { TestStore } from './stores.ts'

type Action =
  | { readonly kind: 'submit'; readonly run: string; readonly waits: readonly PlannedWait[] }
  | { readonly kind: 'send'; readonly event: ReceivedEvent & { readonly id: string } }
  | { readonly kind: 'decide' | 'cancel' | 'sweep' | 'pause' }
  | { readonly kind: 'fork'; readonly run: string }
  | { readonly kind: 'kill'; readonly write: number; readonly when: 'before' | 'after' }

/** The actions of a race; those that are not awaited happen at the same time as the next ones. */
interface Race {
  readonly actions: readonly (Action & { readonly isAwaited: boolean })[]
  readonly parkAfterMs: number
}

const RUNS = ['run-0', 'run-1', 'run-2', 'run-3']

const KEYS = ['k-0', 'k-1']

/** Returns the race of a seed. */
export function createRace(seed: number): Race {
  const random = createRandom(seed)
  const pick = <Item>(items: readonly Item[]): Item =>
    items[Math.floor(random() * items.length)] as Item
  const events = Array.from({ length: 7 }, (_, n) => ({
    id: `event-${n}`,
    name: NAME,
    key: pick(KEYS),
    ...(random() < 0.3 ? { runId: pick(RUNS) } : {}),
    data: random() < 0.15 ? 'not the data' : { n },
  }))
  const createWait = (): PlannedWait => {
    const isSleep = random() < 0.15
    return {
      keys: isSleep ? [] : random() < 0.3 ? KEYS : [pick(KEYS)],
      areAll: random() < 0.5,
      isReviewed: !isSleep && random() < 0.4,
      ...(isSleep || random() < 0.4 ? { timeoutMs: 1 + Math.floor(random() * 250) } : {}),
    }
  }
  const later = (): Action => {
    const share = random()
    if (share < 0.45) return { kind: 'send', event: pick(events) }
    if (share < 0.57) return { kind: 'decide' }
    if (share < 0.62) return { kind: 'cancel' }
    if (share < 0.72) return { kind: 'sweep' }
    if (share < 0.8) return { kind: 'fork', run: pick(RUNS) }
    if (share < 0.9) return { kind: 'pause' }
    const write = 1 + Math.floor(random() * 8)
    return { kind: 'kill', write, when: pick(['before', 'after'] as const) }
  }
  const actions = [
    ...RUNS.map((run): Action => {
      const waits = Array.from({ length: 1 + Math.floor(random() * 3) }, createWait)
      return { kind: 'submit', run, waits }
    }),
    ...Array.from({ length: 22 }, later),
  ]
  // Runs can begin at any time, most of them early.
  const order = actions.map((action) => ({
    action: { ...action, isAwaited: random() < 0.4 },
    at: action.kind === 'submit' ? random() * random() : random(),
  }))
  return {
    actions: order.toSorted((one, other) => one.at - other.at).map(({ action }) => action),
    parkAfterMs: pick([0, 20, 1_000]),
  }
}

interface RaceProcess {
  readonly mortal: MortalStorage
  readonly storage: RunStorage
  readonly service: RunService
}

/** A fork, and the event after which it began. */
interface RaceFork {
  readonly parent: string
  readonly at: number
}

/** Lets the race of a seed happen, ends its runs, and checks their records. */
export class WaitRace {
  readonly #place: TestStore
  readonly #race: Race
  readonly #random: () => number
  readonly #processes: RaceProcess[] = []
  readonly #runs = new Set<string>()
  readonly #forks = new Map<string, RaceFork>()
  /** Events by id that a process has accepted, and those that it may have. */
  readonly #accepted = new Map<string, ReceivedEvent>()
  readonly #sent = new Map<string, ReceivedEvent>()
  /** Confirmed decisions of people, by the id of their review. */
  readonly #decided = new Map<string, string>()
  readonly #working = new Set<Promise<unknown>>()
  readonly #settings: RunServiceOptions
  #names = 0

  constructor(place: TestStore, seed: number, settings: RunServiceOptions = {}) {
    this.#place = place
    this.#race = createRace(seed)
    this.#random = createRandom(seed + 1_000_000)
    this.#settings = settings
  }

  /** Lets everything happen, with that many processes. */
  async run(processes: number): Promise<void> {
    for (let n = 0; n < processes; n += 1) await this.#open(n)
    for (const { isAwaited, ...action } of this.#race.actions) {
      const working = this.#act(action).finally(() => this.#working.delete(working))
      this.#working.add(working)
      // The failure is thrown below, when the action is awaited.
      working.catch(() => undefined)
      if (isAwaited) await working
      else await this.#pause()
    }
    await Promise.all(this.#working)
    for (const { mortal } of this.#processes) mortal.spare()
    while (this.#working.size > 0) await Promise.all(this.#working)
    await this.#addForks()
    await this.#assertNoneLost()
    await this.#endRuns()
    await this.#check()
    for (const { service } of this.#processes) await service.close({ drainTimeoutMs: 5_000 })
  }

  async #open(n: number): Promise<void> {
    const storage = await this.#place.open()
    const mortal = mortalStorage(storage, () => this.#pause())
    const service = createRunService(mortal.storage, [RACING], {
      ...RACE_SETTINGS,
      parkAfterMs: this.#race.parkAfterMs,
      ...this.#settings,
    })
    this.#processes[n] = { mortal, storage, service }
    await service.start()
    void mortal.died.then(async () => {
      const replacing = this.#replace(n).finally(() => this.#working.delete(replacing))
      this.#working.add(replacing)
      await replacing
    })
  }

  async #replace(n: number): Promise<void> {
    const { mortal, storage } = this.#process(n)
    await mortal.settled()
    await storage[Symbol.asyncDispose]()
    await this.#open(n)
  }

  #process(n = Math.floor(this.#random() * this.#processes.length)): RaceProcess {
    const process = this.#processes[n]
    if (process === undefined)
      throw new RangeError(`Unknown process ${n} of ${this.#processes.length}`)
    return process
  }

  /** Lets other actors continue, for a random number of turns. */
  async #pause(): Promise<void> {
    const turns = Math.floor(this.#random() * this.#random() * 12)
    for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate)
  }

  /** Calls a process; undefined if it dies or refuses meanwhile. */
  async #call<Reply>(
    call: (service: RunService) => Promise<Reply>,
    expected: readonly TuttiError['code'][],
  ): Promise<Reply | undefined> {
    const { mortal, service } = this.#process()
    try {
      return await Promise.race([call(service), mortal.died.then(() => undefined)])
    } catch (error) {
      if (TuttiError.isInstance(error) && expected.includes(error.code)) return undefined
      throw error
    }
  }

  async #act(action: Action): Promise<void> {
    switch (action.kind) {
      case 'submit': {
        const { run: runId, waits } = action
        const inputs = { waits: JSON.stringify(waits) }
        this.#runs.add(runId)
        // A client repeats its request until it has an answer.
        while (
          (await this.#call(
            (service) => service.submit({ runId, inputs, idempotencyKey: runId }),
            [],
          )) === undefined
        )
          await this.#pause()
        return
      }
      case 'send':
        return this.#send(action.event)
      case 'decide':
        return this.#decide()
      case 'cancel':
        await this.#cancel()
        return
      case 'sweep':
        await this.#call((service) => sweep(service), [])
        return
      case 'fork':
        return this.#fork(action.run)
      case 'pause':
        await new Promise((resolve) => setTimeout(resolve, this.#random() * 60))
        return
      case 'kill': {
        const { mortal } = this.#process()
        mortal.dieAt(action.write, action.when)
      }
    }
  }

  async #send(event: ReceivedEvent & { readonly id: string }): Promise<void> {
    this.#sent.set(event.id, event)
    const reply = await this.#call(
      (service) => service.externalEvents.receive(event),
      ['EVENT_REFUSED', 'RUN_NOT_FOUND', 'RUN_COMPLETED'],
    )
    if (reply === undefined) return
    this.#accepted.set(event.id, event)
  }

  async #decide(): Promise<void> {
    const open = await this.#call((service) => service.reviews.open({ kinds: ['QUESTION'] }), [])
    const review = open?.[Math.floor(this.#random() * open.length)]
    if (review === undefined) return
    const { reviewId, runId } = review
    this.#names += 1
    const decidedBy = `person-${this.#names}`
    const decision = { action: 'EDIT', input: { n: -this.#names }, decidedBy } as const
    const reply = await this.#call(
      (service) => service.send(runId, { kind: 'decide', reviewId, decision }),
      ['REVIEW_RESOLVED', 'REVIEW_NOT_FOUND'],
    )
    if (reply === undefined) return
    ok(!this.#decided.has(reviewId), `two decisions of ${reviewId}`)
    this.#decided.set(reviewId, decidedBy)
  }

  async #cancel(): Promise<void> {
    const runs = [...this.#runs]
    const runId = runs[Math.floor(this.#random() * runs.length)]
    if (runId === undefined) return
    await this.#call(
      (service) => service.send(runId, { kind: 'cancel' }),
      ['RUN_COMPLETED', 'RUN_NOT_FOUND'],
    )
  }

  async #fork(parent: string): Promise<void> {
    const lastSeq = (await this.#call((service) => service.get(parent), []))?.run.lastSeq
    if (lastSeq === undefined) return
    const at = Math.floor(this.#random() * (lastSeq + 1))
    this.#names += 1
    const runId = `fork-${this.#names}`
    this.#forks.set(runId, { parent, at })
    await this.#call((service) => service.forks.create(parent, { at, runId }), ['BAD_REQUEST'])
  }

  /** Adds the forks that exist: a process can die after it has created one. */
  async #addForks(): Promise<void> {
    for (const runId of this.#forks.keys()) {
      if ((await this.#stored().runs.get(runId)) !== undefined) this.#runs.add(runId)
    }
  }

  #stored(): RunStorage {
    return this.#process(0).storage
  }

  /** Checks that no accepted event stays free while a wait for it is open, and none stays assigned. */
  async #assertNoneLost(): Promise<void> {
    let problem = ''
    await until('every event to have a wait, or no wait', async () => {
      problem = (await this.#findUndelivered()) ?? ''
      return problem === ''
    }).catch((error: unknown) => {
      throw new Error(`Lost: ${problem}`, { cause: error })
    })
  }

  async #findUndelivered(): Promise<string | undefined> {
    await this.#call((service) => sweep(service), [])
    const { service } = this.#process(0)
    const open = await service.reviews.open({ kinds: ['QUESTION', 'EVENT'] })
    for (const [id, { key, runId: wanted }] of this.#accepted) {
      const state = await this.#stored().externalEvents.state(id)
      if (state === undefined) return `${id} is unknown`
      if (state.kind === 'assigned') return `${id} is assigned to ${state.reviewId}`
      if (state.kind !== 'free') continue
      const wait = open.find(
        ({ request: { waitsFor = [] }, runId, expiresAt }) =>
          expiresAt === undefined &&
          (wanted === undefined || wanted === runId) &&
          waitsFor.some((awaited) => awaited.key === key),
      )
      if (wait !== undefined) return `${id} is free, and ${wait.reviewId} waits for it`
    }
    return undefined
  }

  /** Sends events until every run has ended. */
  async #endRuns(): Promise<void> {
    const { service } = this.#process(0)
    await until('the end of all runs', async () => {
      const open = await service.reviews.open({ kinds: ['QUESTION', 'EVENT'] })
      const sending = open.map(async ({ runId, request }) => {
        const [awaited] = request.waitsFor ?? []
        if (awaited === undefined) return
        this.#names += 1
        await this.#send({ ...awaited, id: `last-${this.#names}`, runId, data: { n: 0 } })
      })
      await Promise.all(sending)
      const records = await Promise.all([...this.#runs].map((runId) => service.get(runId)))
      return records.every(
        (record) => record !== undefined && isTerminalRunStatus(record.run.status),
      )
    })
  }

  /** Checks the logs of all runs, and the states of all events, against each other. */
  async #check(): Promise<void> {
    const { service } = this.#process(0)
    await sweep(service)
    /** Runs whose own part of the log has a decision by the event, by the id of the event. */
    const winners = new Map<string, string[]>()
    const logs = new Map<string, readonly LoggedRunEvent[]>()
    for (const runId of this.#runs) logs.set(runId, await allEvents(service, runId))
    for (const [runId, log] of logs) {
      const record = await service.get(runId)
      const { status } = record?.run ?? {}
      ok(status === 'COMPLETED' || status === 'CANCELLED', `${runId} is ${status}`)
      const fork = this.#forks.get(runId)
      const own = fork === undefined ? log : log.filter(({ seq }) => seq > fork.at)
      assertOneEnd(runId, log, own)
      for (const event of own) {
        if (event.type !== 'review_decided') continue
        const confirmed = this.#decided.get(event.reviewId)
        if (confirmed !== undefined) strictEqual(event.decidedBy, confirmed)
        const { id } = event.event ?? {}
        if (id === undefined) continue
        const sent = this.#sent.get(id)
        strictEqual(typeof sent?.data, 'object', `${id} has invalid data`)
        winners.set(id, [...(winners.get(id) ?? []), runId])
      }
      if (status !== 'COMPLETED') continue
      const outcomes = JSON.parse(record?.tasks[0]?.output ?? '') as readonly {
        readonly eventId?: string
        readonly arrived: boolean
      }[]
      const ends = listDecisions(log, fork)
      const ids = (list: readonly (string | undefined)[]) => list.filter((id) => id !== undefined)
      deepStrictEqual(
        ids(outcomes.map(({ eventId }) => eventId)).toSorted(),
        ids(ends.map(({ event }) => event?.id)).toSorted(),
        `events of ${runId}`,
      )
      strictEqual(outcomes.filter(({ arrived }) => arrived).length, ends.length, runId)
    }
    for (const reviewId of this.#decided.keys()) {
      const all = [...logs.values()].flat()
      ok(
        all.some((event) => event.type === 'review_decided' && event.reviewId === reviewId),
        `the decision of ${reviewId} is lost`,
      )
    }
    await this.#checkEvents(winners, logs)
  }

  async #checkEvents(
    winners: ReadonlyMap<string, readonly string[]>,
    logs: ReadonlyMap<string, readonly LoggedRunEvent[]>,
  ): Promise<void> {
    for (const [id, event] of this.#sent) {
      const runs = winners.get(id) ?? []
      const first = runs.filter((runId) => !this.#isInherited(id, runId, logs))
      const state = await this.#stored().externalEvents.state(id)
      ok(first.length <= 1, `${id} won in ${runs.join(' and ')}`)
      if (this.#accepted.has(id)) ok(state !== undefined, `${id} is lost`)
      ok(state?.kind !== 'assigned', `${id} is still assigned`)
      deepStrictEqual(state?.kind === 'delivered' ? [state.runId] : [], first, `state of ${id}`)
      const [winner] = first
      if (event.runId !== undefined && winner !== undefined) strictEqual(winner, event.runId)
    }
  }

  /** Whether a run has the event because its parent got it after the fork began. */
  #isInherited(
    id: string,
    runId: string,
    logs: ReadonlyMap<string, readonly LoggedRunEvent[]>,
  ): boolean {
    const fork = this.#forks.get(runId)
    if (fork === undefined) return false
    return (logs.get(fork.parent) ?? []).some(
      (event) => event.type === 'review_decided' && event.event?.id === id && event.seq > fork.at,
    )
  }
}

/** Pairs events and waits, as the timer of a service does. */
function sweep({ externalEvents }: RunService): Promise<void> {
  return (externalEvents as RunExternalEvents).sweep()
}

const ENDS: readonly LoggedRunEvent['type'][] = [
  'review_decided',
  'review_timed_out',
  'review_withdrawn',
]

/** Checks that each review of a log has one end. In a fork, the reviews that it continues have their requests in the copy. */
function assertOneEnd(
  runId: string,
  log: readonly LoggedRunEvent[],
  own: readonly LoggedRunEvent[],
): void {
  const ends = new Map<string, number>()
  for (const event of own) {
    if (!ENDS.includes(event.type) || !('reviewId' in event)) continue
    ends.set(event.reviewId, (ends.get(event.reviewId) ?? 0) + 1)
  }
  for (const [reviewId, count] of ends) strictEqual(count, 1, `ends of ${reviewId} in ${runId}`)
  for (const event of own) {
    if (event.type !== 'review_requested') continue
    strictEqual(ends.get(event.reviewId), 1, `ends of ${event.reviewId} in ${runId}`)
  }
  deepStrictEqual(
    log.map(({ seq }) => seq),
    log.map((_, index) => index),
  )
}

/** Returns the decisions that the handler of a run has got. A fork asks people again. */
function listDecisions(log: readonly LoggedRunEvent[], fork: RaceFork | undefined) {
  return log.flatMap((event) => {
    if (event.type !== 'review_decided') return []
    return fork === undefined || event.seq > fork.at || event.event !== undefined ? [event] : []
  })
}
