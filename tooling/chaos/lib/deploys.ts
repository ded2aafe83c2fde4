/**
 * Rolling deploys: each process in turn is replaced by one of the next build, while runs and kills continue. Afterwards
 * the runs that the last build may not continue wait; a person moves some, and processes of the earlier builds return
 * for the others.
 */
import { setTimeout as sleep } from 'node:timers/promises'

import { freePort } from '../../postgres/free-port.ts'
import { BUILDS, type BuildName } from './builds.ts'

import type { ApiClients } from './api-clients.ts'
import type { ChaosDatabase } from './database.ts'
import type { Faults } from './faults.ts'
import type { Fleet, Role } from './fleet.ts'
import type { People } from './people.ts'
import type { PlannedDeploy } from './plan.ts'

/** Observations of the deploys. */
export interface Rollout {
  /** Build of the last deploy. */
  readonly last: BuildName
  /** Build of each process. */
  readonly builds: ReadonlyMap<number, BuildName>
  /** Runs that had not ended when only processes of the last build were left and no run made progress. */
  readonly waiting: readonly WaitingRun[]
  /** Runs that a person moved to the last build. */
  readonly moved: readonly MovedRun[]
}

/** A run that waits for its build. */
export interface WaitingRun {
  readonly runId: string
  readonly build: string
  readonly status: string
  readonly lastSeq: number
}

/** A run that was moved, and the time of the request, in milliseconds since 1970. */
export interface MovedRun {
  readonly runId: string
  readonly at: number
}

/** Parts of the deploys. */
export interface DeploysOptions {
  readonly planned: readonly PlannedDeploy[]
  readonly fleet: Fleet
  readonly faults: Faults
  readonly people: People
  readonly clients: ApiClients
  readonly database: ChaosDatabase
  readonly say: (text: string) => void
  readonly onProblem: (problem: string) => void
}

/** Builds whose runs a person moves to the other, because only texts of begun tasks differ. */
const MOVED = { from: 'v3', to: 'v4' } as const

/** Interval at which the test looks for progress, in milliseconds. */
const LOOK_MS = 250

/** Maximum time until a process of a build that returns is ready, in milliseconds. */
const READY_LIMIT_MS = 60_000

/** Deploys builds, and lets the runs that wait end. */
export class Deploys {
  readonly #options: DeploysOptions
  readonly #moved: MovedRun[] = []
  #waiting: readonly WaitingRun[] = []

  constructor(options: DeploysOptions) {
    this.#options = options
  }

  /** Observations so far. */
  get rollout(): Rollout {
    const { planned, fleet } = this.#options
    const last = planned.at(-1)?.build ?? BUILDS[0]
    return { last, builds: fleet.builds, waiting: this.#waiting, moved: this.#moved }
  }

  /** Performs all deploys, each after a number of runs were submitted; ends early when `isOver` returns true. */
  async rollAll(isOver: () => boolean): Promise<void> {
    const { planned, people, say } = this.#options
    for (const { build, afterRuns } of planned) {
      while (people.submitted.length < afterRuns && !isOver()) await sleep(LOOK_MS)
      if (isOver()) return
      say(`Deploying ${build}`)
      await Promise.all([this.#roll('api', build), this.#roll('worker', build)])
    }
  }

  /** Replaces the processes of a role, one after another. */
  async #roll(role: Role, build: BuildName): Promise<void> {
    const { fleet, faults } = this.#options
    for (const member of fleet.members) {
      if (member.role === role) await faults.deploy(member, build)
    }
  }

  /** Waits until no run progresses, moves the runs that only differ in texts, and starts the builds of the others. */
  async settle(isOver: () => boolean): Promise<void> {
    const { say } = this.#options
    for (;;) {
      this.#waiting = await this.#listUnended()
      if (isOver()) return
      if (this.#waiting.every(({ status }) => status === 'WAITING_FOR_BUILD')) break
      await sleep(LOOK_MS)
    }
    say(`${this.#waiting.length} runs wait for their build`)
    const isMoved = (build: string): boolean =>
      build === MOVED.from && this.rollout.last === MOVED.to
    for (const { runId, build } of this.#waiting) if (isMoved(build)) await this.#move(runId)
    const needed = BUILDS.filter(
      (build) => !isMoved(build) && this.#waiting.some((run) => run.build === build),
    )
    await Promise.all(needed.map((build) => this.#bringBack(build)))
  }

  async #listUnended(): Promise<readonly WaitingRun[]> {
    const rows = await this.#options.database.read(
      `SELECT run_id, build, status, last_seq FROM tutti.runs WHERE state <> 'ended' ORDER BY id`,
    )
    return rows.map((row) => ({
      runId: String(row['run_id']),
      build: String(row['build']),
      status: String(row['status']),
      lastSeq: Number(row['last_seq']),
    }))
  }

  async #move(runId: string): Promise<void> {
    const { clients, onProblem } = this.#options
    const at = Date.now()
    const end = await clients.untilAnswered(0, (client, signal) =>
      client.runs.migrate(runId, { to: MOVED.to, signal }),
    )
    if (end.kind === 'answered' && end.value.moved) this.#moved.push({ runId, at })
    else onProblem(`Moving ${runId} ended with ${JSON.stringify(end)}`)
  }

  async #bringBack(build: BuildName): Promise<void> {
    const { fleet, onProblem } = this.#options
    const member = fleet.add(`returned ${build}`, { role: 'worker', port: await freePort(), build })
    member.start()
    if (await member.becomesReady(READY_LIMIT_MS)) return
    onProblem(`${member.name} did not start\n${member.said}`)
  }
}
