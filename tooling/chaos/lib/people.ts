/**
 * The users of the system: they submit runs, follow some, cancel and steer others, decide reviews, fork and delete. Their
 * commands and the replies are recorded, to be compared with the store.
 */
import { setTimeout as sleep } from 'node:timers/promises'

import { EDITED_OUTPUT, REJECT_FEEDBACK, type PlannedRun, type PlannedCommand } from './plan.ts'
import { followRaw } from './raw-events.ts'

import type { ApiClients, CallEnd, Interval } from './api-clients.ts'
import type { RawStream } from './raw-events.ts'
import type { ForkRunBody, LoggedRunEvent } from '@tutti/protocol'

/** Text of a decision that requires one. */
const DECISION_TEXTS = {
  CONTINUE: {},
  EDIT: { revisedOutput: EDITED_OUTPUT },
  REJECT: { feedback: REJECT_FEEDBACK },
} as const

/** A submitted run. */
export interface Submitted {
  readonly planned: PlannedRun
  /** Run ids in the replies, each with the time of its request. */
  readonly answers: readonly SubmitAnswer[]
}

/** A positive reply to a submit. */
export interface SubmitAnswer extends Interval {
  readonly runId: string
}

/** A command to a run, its reply, and the time of its request. */
export interface Asked extends Interval {
  readonly runId: string
  readonly what:
    | PlannedCommand
    | { readonly kind: 'decide'; readonly reviewId: string }
    | { readonly kind: 'fork' | 'delete' }
  /** `ok`, or the code of the error. */
  readonly answer: string
}

/** Events that a reader saw. */
export interface Seen {
  readonly runId: string
  readonly events: readonly LoggedRunEvent[]
  /** Time at which each event arrived. */
  readonly times: readonly number[]
  /** Whether it saw the end. */
  readonly isWhole: boolean
  /** Error that ended it before, if it was refused: the run or its newest events are not stored. */
  readonly refusal?: string
}

/** Interval at which reviews are listed, in milliseconds. */
const LOOK_MS = 300

/**
 * Errors that a race explains: the run or the review ended before the command arrived. A run or steps that were not found
 * are left to the judge.
 */
const OVER = [
  'RUN_COMPLETED',
  'REVIEW_RESOLVED',
  'REVIEW_NOT_FOUND',
  'RUN_NOT_FOUND',
  'STEPS_NOT_RETAINED',
]

/** Errors of readers that are left to the judge: a failover can lose the run, or the events that a reader has seen. */
const LOST = ['RUN_NOT_FOUND', 'CURSOR_PAST_END']

/** Resources of the users. */
export interface PeopleOptions {
  readonly clients: ApiClients
  /** Aborts at the end of the test. */
  readonly signal: AbortSignal
  readonly onProblem: (problem: string) => void
}

/** The users and their observations. */
export class People {
  readonly submitted: Submitted[] = []
  readonly asked: Asked[] = []
  readonly seen: Seen[] = []
  readonly streams: RawStream[] = []
  readonly #options: PeopleOptions
  readonly #planned = new Map<string, PlannedRun>()
  /** Reviews that are being decided. A failover can lose a decision, then the review is open again. */
  readonly #known = new Set<string>()
  /** Number of decided reviews of each run. */
  readonly #decided = new Map<string, number>()
  readonly #busy = new Set<Promise<void>>()
  readonly #readers = new Set<Promise<void>>()
  /** Forks and deletes of runs that have not ended yet. */
  readonly #followUps = new Set<Promise<void>>()

  constructor(options: PeopleOptions) {
    this.#options = options
  }

  /** Whether runs are still to be forked or deleted. */
  get hasFollowUps(): boolean {
    return this.#followUps.size > 0
  }

  /** Submits all runs in order; resolves when each has a reply. */
  async submitAll(planned: readonly PlannedRun[]): Promise<void> {
    const submits: Promise<void>[] = []
    for (const run of planned) {
      await pause(run.submitAfterMs, this.#options.signal)
      submits.push(this.#submit(run))
    }
    await Promise.all(submits)
  }

  /** Decides open reviews until the signal aborts. */
  async decideReviews(): Promise<void> {
    const { clients, signal } = this.#options
    for (let look = 0; !signal.aborted; look += 1) {
      const end = await clients.untilAnswered(look, (client) => client.reviews.list())
      if (end.kind === 'refused') this.#refused('Listing reviews', end)
      const open = end.kind === 'answered' ? end.value.reviews : []
      for (const { reviewId, runId, timeoutMs } of open) {
        // Reviews with a time limit are left to time out.
        if (this.#known.has(reviewId) || timeoutMs !== 0) continue
        this.#known.add(reviewId)
        track(this.#busy, this.#decide(runId, reviewId))
      }
      await pause(LOOK_MS, signal)
    }
  }

  /** Resolves when no command is pending. */
  async settled(): Promise<void> {
    while (this.#busy.size > 0) await Promise.all(this.#busy)
  }

  /** Resolves when every reader has seen the end of its run, or the signal has aborted. */
  async readersSettled(): Promise<void> {
    await Promise.all(this.#readers)
  }

  async #submit(planned: PlannedRun): Promise<void> {
    const ways = planned.isSentTwice ? [0, 1] : [Number(planned.piece)]
    const ends = await Promise.all(ways.map((way) => this.#submitOnce(planned, way)))
    const answers = ends.flatMap((end) =>
      end.kind === 'answered' ? [{ runId: end.value.runId, from: end.from, to: end.to }] : [],
    )
    for (const end of ends) {
      if (end.kind === 'refused') this.#refused(`Submitting ${planned.idempotencyKey}`, end)
    }
    this.submitted.push({ planned, answers })
    const runId = answers[0]?.runId
    if (runId === undefined) return
    this.#planned.set(runId, planned)
    if (planned.isFollowed) this.#follow(runId, Number(planned.piece))
    if (planned.isReadRaw === true) this.#followText(runId)
    for (const command of planned.commands) track(this.#busy, this.#ask(runId, command))
    if (planned.followUp !== undefined) track(this.#followUps, this.#followUp(runId, planned))
  }

  async #submitOnce({ idempotencyKey, ...planned }: PlannedRun, way: number) {
    const { piece, ensemble, runId, patienceMs, threadId, hasWebhook, maxTokens } = planned
    const { clients } = this.#options
    const body = {
      ensemble,
      inputs: { piece },
      tags: { chaos: piece },
      ...(runId === undefined ? {} : { runId }),
      ...(threadId === undefined ? {} : { threadId }),
      ...(hasWebhook === true ? { webhooks: ['chaos'] } : {}),
      ...(maxTokens === undefined ? {} : { budget: { maxTokens } }),
    }
    for (;;) {
      if (threadId !== undefined) {
        await clients.untilAnswered(way, (client, signal) =>
          client.threads.create({ threadId }, { signal }),
        )
      }
      const end = await clients.untilAnswered(
        way,
        (client, signal) => client.runs.submit(body, { idempotencyKey, signal }),
        { patienceMs },
      )
      // A failover can lose a thread, and the retention deletes one without runs.
      if (end.kind !== 'refused' || end.code !== 'THREAD_NOT_FOUND') return end
    }
  }

  /** Forks and deletes a run when it has ended. */
  async #followUp(runId: string, planned: PlannedRun): Promise<void> {
    const { followUp } = planned
    if (followUp === 'fork_waiting') return
    const { clients } = this.#options
    const way = Number(planned.piece)
    const end = await clients.untilAnswered(way, (client, signal) =>
      client.runs.result(runId, { signal }),
    )
    if (end.kind !== 'answered' || end.value.status !== 'COMPLETED') return
    const task = way % 2 === 0 ? 'join' : 'left'
    await Promise.all([
      followUp === 'delete' ? undefined : this.#fork(runId, planned, { task }),
      followUp === 'fork' ? undefined : this.#delete(runId, way),
    ])
  }

  async #fork(runId: string, planned: PlannedRun, at: ForkRunBody['at']): Promise<void> {
    const { piece, ensemble, isFollowed } = planned
    const idempotencyKey = `${planned.idempotencyKey}-fork`
    const end = await this.#options.clients.untilAnswered(Number(piece), (client, signal) =>
      client.runs.fork(runId, { at, allowSideEffects: true }, { idempotencyKey, signal }),
    )
    const fork: PlannedRun = {
      piece,
      ensemble,
      isFollowed,
      idempotencyKey,
      submitAfterMs: 0,
      isSentTwice: false,
      commands: [],
      decisions: [],
      forkedFrom: runId,
    }
    this.#note(runId, { kind: 'fork' }, end)
    const answers =
      end.kind === 'answered' ? [{ runId: end.value.runId, from: end.from, to: end.to }] : []
    this.submitted.push({ planned: fork, answers })
    if (end.kind === 'answered' && isFollowed) this.#follow(end.value.runId, Number(piece))
  }

  async #delete(runId: string, way: number): Promise<void> {
    const end = await this.#options.clients.untilAnswered(way, (client, signal) =>
      client.runs.delete(runId, { signal }),
    )
    this.#note(runId, { kind: 'delete' }, end)
  }

  /** Forks a run at the event with which it began to wait. */
  async #forkWaiting(runId: string, reviewId: string, planned: PlannedRun): Promise<void> {
    const { clients, signal } = this.#options
    const events = clients.client(Number(planned.piece)).runs.events(runId, { signal })
    try {
      for await (const event of events) {
        if (event.type !== 'review_requested' || event.reviewId !== reviewId) continue
        await this.#fork(runId, planned, event.seq)
        return
      }
    } catch (error) {
      if (!signal.aborted) this.#options.onProblem(`Reading ${runId} failed: ${String(error)}`)
    }
  }

  async #ask(runId: string, command: PlannedCommand): Promise<void> {
    const { clients, signal } = this.#options
    await pause(command.afterMs, signal)
    const end = await clients.untilAnswered<unknown>(
      Math.floor(command.afterMs),
      (client, stop) => {
        const options = { signal: stop }
        switch (command.kind) {
          case 'cancel':
            return client.runs.cancel(runId, { ...options, mode: command.mode })
          case 'switch_model':
            return client.runs.switchModel(runId, 'second', options)
          case 'inject':
            return client.runs.inject(runId, command.content, options)
        }
      },
    )
    this.#note(runId, command, end)
  }

  async #decide(runId: string, reviewId: string): Promise<void> {
    const { clients, signal } = this.#options
    const number = this.#decided.get(runId) ?? 0
    this.#decided.set(runId, number + 1)
    const run = this.#planned.get(runId)
    const { decision, afterMs } = run?.decisions[number] ?? { decision: 'CONTINUE', afterMs: 0 }
    if (run?.followUp === 'fork_waiting' && number === 0)
      await this.#forkWaiting(runId, reviewId, run)
    await pause(afterMs, signal)
    const end = await clients.untilAnswered(number, (client, stop) =>
      client.reviews.decide(reviewId, { decision, ...DECISION_TEXTS[decision] }, { signal: stop }),
    )
    this.#note(runId, { kind: 'decide', reviewId }, end)
    this.#known.delete(reviewId)
  }

  #note(runId: string, what: Asked['what'], end: CallEnd<unknown>): void {
    const answer = end.kind === 'refused' ? end.code : end.kind === 'answered' ? 'ok' : 'none'
    this.asked.push({ runId, what, answer, from: end.from, to: end.to })
    // The event of a fork may be lost: this is left to the judge.
    const isJudged = what.kind === 'fork' && answer === 'BAD_REQUEST'
    if (end.kind === 'refused' && !OVER.includes(end.code) && !isJudged) {
      this.#refused(`Asking ${what.kind} of ${runId}`, end)
    }
  }

  #follow(runId: string, way: number): void {
    const read = async (): Promise<void> => {
      // A reader of events that are lost begins again.
      while ((await this.#read(runId, way)) === 'CURSOR_PAST_END');
    }
    this.#readers.add(read())
  }

  #followText(runId: string): void {
    const { clients, signal } = this.#options
    const read = async (): Promise<void> => {
      const stream = await followRaw(clients.urls, runId, signal)
      if (stream !== undefined) this.streams.push(stream)
    }
    this.#readers.add(read())
  }

  /** Reads a run to its end; returns the error that ended it before. */
  async #read(runId: string, way: number): Promise<string | undefined> {
    const { clients, signal } = this.#options
    const events: LoggedRunEvent[] = []
    const times: number[] = []
    try {
      for await (const event of clients.client(way).runs.events(runId, { signal })) {
        events.push(event)
        times.push(Date.now())
      }
      this.seen.push({ runId, events, times, isWhole: true })
      return undefined
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : ''
      const refusal = LOST.includes(code) ? code : undefined
      const seen = { runId, events, times, isWhole: false }
      this.seen.push(refusal === undefined ? seen : { ...seen, refusal })
      if (!signal.aborted && refusal === undefined) {
        this.#options.onProblem(`Following ${runId} failed: ${String(error)}`)
      }
      return refusal
    }
  }

  #refused(what: string, { code, message }: { code: string; message: string }): void {
    this.#options.onProblem(`${what} was refused with ${code}: ${message}`)
  }
}

/** Adds work to a set until it has ended. */
function track(set: Set<Promise<void>>, work: Promise<void>): void {
  const done = work.finally(() => set.delete(done))
  set.add(done)
}

/** Waits until the signal aborts at the latest. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined)
}
