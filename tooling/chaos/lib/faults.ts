/** Injects the planned faults and records them. */
import { setTimeout as sleep } from 'node:timers/promises'

import type { BuildName } from './builds.ts'
import type { FailoverServer } from '../../postgres/test-database.ts'
import type { ChaosNats } from './chaos-nats.ts'
import type { ChaosDatabase } from './database.ts'
import type { DatabaseProxy } from './database-proxy.ts'
import type { Fleet, Member, Role } from './fleet.ts'
import type { FaultKind, PlannedFault } from './plan.ts'

/** An injected fault. Times are in milliseconds since 1970. */
export interface Fault {
  readonly kind: FaultKind
  readonly at: number
  /** Time at which everything was restored. */
  readonly until: number
  /** The affected processes, as they were. */
  readonly pids: readonly number[]
}

/** Targets of faults. */
export interface FaultOptions {
  readonly fleet: Fleet
  readonly server: FailoverServer
  readonly database: ChaosDatabase
  /** Proxy between the processes and the database. */
  readonly proxy: DatabaseProxy
  /** Present if NATS dispatches the runs. */
  readonly nats: ChaosNats | undefined
  readonly onProblem: (problem: string) => void
}

/** Maximum time of a graceful stop, in milliseconds: drain timeout, final writes and a reserve. */
const STOP_LIMIT_MS = 9_000

/** Maximum time until a process runs again, in milliseconds, also with an unavailable database. */
const READY_LIMIT_MS = 60_000

/** Interval at which a failover or a deploy looks whether another fault is over, in milliseconds. */
const LOOK_MS = 50

/** Injects faults. */
export class Faults {
  readonly done: Fault[] = []
  readonly #options: FaultOptions
  /** Whether a fault of the database is in progress. */
  #isDatabaseHit = false
  /** Whether a fault of NATS is in progress. */
  #isNatsHit = false

  constructor(options: FaultOptions) {
    this.#options = options
  }

  /** Injects a fault, unless it has no target; resolves when everything is restored. */
  async do(planned: PlannedFault): Promise<void> {
    if (isFailover(planned)) while (this.#isDatabaseHit) await sleep(LOOK_MS)
    const at = Date.now()
    const pids = await this.#hit(planned)
    if (pids !== undefined) {
      this.done.push({ kind: planned.kind, at, until: Date.now(), pids })
    }
  }

  /** Stops a process and starts one of another build, when no fault uses it. */
  async deploy(member: Member, build: BuildName): Promise<void> {
    while (member.isHit) await sleep(LOOK_MS)
    await this.#with([member], async () => {
      member.build = build
      await this.#stop(member, 0)
    })
  }

  async #hit(planned: PlannedFault): Promise<readonly number[] | undefined> {
    switch (planned.kind) {
      case 'kill_worker':
        return this.#withOne('worker', planned, (member) => this.#kill(member, planned.lastsMs))
      case 'kill_api':
        return this.#withOne('api', planned, (member) => this.#kill(member, planned.lastsMs))
      case 'stop_worker':
        return this.#withOne('worker', planned, (member) => this.#stop(member, planned.lastsMs))
      case 'freeze_worker':
        return this.#withOne('worker', planned, async (member) => {
          member.send('SIGSTOP')
          await sleep(planned.lastsMs)
          member.send('SIGCONT')
        })
      case 'kill_all_workers':
        return this.#with(this.#options.fleet.allWhole('worker'), (member) =>
          this.#kill(member, planned.lastsMs),
        )
      case 'cut_connections':
        // Postgres shows commits that no standby has yet when it ends their connections.
        if (this.#isDatabaseHit) return undefined
        await this.#options.database.cutConnections()
        return []
      case 'lose_answers':
        await this.#options.proxy.loseAnswers(planned.lastsMs)
        return []
      case 'stop_database':
        return this.#withDatabase(() => this.#restart('stop', planned.lastsMs))
      case 'crash_database':
        return this.#withDatabase(() => this.#restart('kill', planned.lastsMs))
      case 'fail_over':
      case 'fail_over_synchronously':
        return this.#withDatabase(() => this.#failOver(planned.lastsMs))
      case 'kill_nats_leader':
        return this.#withNats((nats) => nats.killLeader(planned))
      case 'stop_nats':
        return this.#withNats((nats) => nats.stopAll(planned))
      case 'freeze_nats':
        return this.#withNats((nats) => nats.freezeOne(planned))
      case 'cut_from_nats': {
        const { members } = this.#options.fleet
        const member = members[Math.floor(planned.which * members.length)]
        return member && this.#withNats((nats) => nats.cutOff(member.name, planned), [member.pid])
      }
    }
  }

  #withOne(
    role: Role,
    { which }: PlannedFault,
    hurt: (member: Member) => Promise<void>,
  ): Promise<readonly number[] | undefined> {
    const members = this.#options.fleet.sparable(role)
    const member = members[Math.floor(which * members.length)]
    return this.#with(member === undefined ? [] : [member], hurt)
  }

  async #with(
    members: readonly Member[],
    hurt: (member: Member) => Promise<void>,
  ): Promise<readonly number[] | undefined> {
    if (members.length === 0) return undefined
    const pids = members.map(({ pid }) => pid)
    const hurtOne = async (member: Member): Promise<void> => {
      member.isHit = true
      try {
        await hurt(member)
        if (await member.becomesReady(READY_LIMIT_MS)) return
        this.#options.onProblem(`${member.name} did not become ready again\n${member.said}`)
      } finally {
        member.isHit = false
      }
    }
    await Promise.all(members.map(hurtOne))
    return pids
  }

  async #kill(member: Member, pauseMs: number): Promise<void> {
    await member.end('SIGKILL', STOP_LIMIT_MS)
    await sleep(pauseMs)
    member.start()
  }

  async #stop(member: Member, pauseMs: number): Promise<void> {
    const { name, pid } = member
    const end = await member.end('SIGTERM', STOP_LIMIT_MS)
    if (end === undefined) {
      this.#options.onProblem(
        `${name} (${pid}) did not stop in ${STOP_LIMIT_MS} ms\n${member.said}`,
      )
      await member.end('SIGKILL', STOP_LIMIT_MS)
    } else if (end.code !== 0) {
      const how = end.signal ?? `code ${end.code}`
      this.#options.onProblem(`${name} (${pid}) stopped with ${how}\n${member.said}`)
    }
    await sleep(pauseMs)
    member.start()
  }

  async #withDatabase(hurt: () => Promise<void>): Promise<readonly number[] | undefined> {
    if (this.#isDatabaseHit) return undefined
    this.#isDatabaseHit = true
    try {
      await hurt()
      return []
    } finally {
      this.#isDatabaseHit = false
    }
  }

  /** Injects a fault of NATS after the one before it is over. */
  async #withNats(
    hurt: (nats: ChaosNats) => Promise<void>,
    pids: readonly number[] = [],
  ): Promise<readonly number[] | undefined> {
    const { nats } = this.#options
    if (nats === undefined) return undefined
    while (this.#isNatsHit) await sleep(LOOK_MS)
    this.#isNatsHit = true
    try {
      await hurt(nats)
      return pids
    } finally {
      this.#isNatsHit = false
    }
  }

  async #restart(how: 'stop' | 'kill', pauseMs: number): Promise<void> {
    const { server } = this.#options
    await server[how]()
    await sleep(pauseMs)
    await server.start()
  }

  /** Kills the primary after its standby has received nothing for a time, and promotes the standby. */
  async #failOver(stallMs: number): Promise<void> {
    const { server } = this.#options
    await server.catchUp()
    await server.stall()
    await sleep(stallMs)
    await server.failOver()
  }
}

/** Returns whether a fault is a failover. */
export function isFailover({ kind }: Pick<PlannedFault, 'kind'>): boolean {
  return kind === 'fail_over' || kind === 'fail_over_synchronously'
}
