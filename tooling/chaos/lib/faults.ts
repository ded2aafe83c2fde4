/** Injects the planned faults and records them. Checks what processes say about their health during faults of the store. */
import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'

import { ChaosDatabase } from './database.ts'
import { checkHealth, type HealthCheck } from './health.ts'

import type { BuildName } from './builds.ts'
import type { TcpProxy } from '../../net/tcp-proxy.ts'
import type { FailoverServer } from '../../postgres/test-database.ts'
import type { ChaosNats } from './chaos-nats.ts'
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

/** A server of Postgres, and the proxy between the processes and it. */
export interface ChaosPostgres {
  readonly server: FailoverServer
  readonly proxy: TcpProxy
}

/** Targets of faults. */
export interface FaultOptions {
  readonly fleet: Fleet
  readonly database: ChaosDatabase
  /** Postgres; undefined with the embedded store. */
  readonly postgres: ChaosPostgres | undefined
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
  readonly health: HealthCheck[] = []
  readonly #options: FaultOptions
  /** Whether a fault of the database is in progress. */
  #isDatabaseHit = false
  /** Whether a fault of NATS is in progress. */
  #isNatsHit = false

  constructor(options: FaultOptions) {
    this.#options = options
  }

  /** Whether the only process is used by a fault, so that another one has no target. */
  get isBusy(): boolean {
    const { fleet, postgres } = this.#options
    return postgres === undefined && fleet.members.some(({ isHit, isReady }) => isHit || !isReady)
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
      case 'lose_answers':
        await this.#options.postgres?.proxy.loseReplies('COMMIT', sleep(planned.lastsMs))
        return []
      case 'cut_connections':
        // Postgres shows commits that no standby has yet when it ends their connections.
        return this.#withDatabase(() => this.#options.database.cutConnections())
      case 'lock_store':
        return this.#lock(planned)
      case 'refuse_writes':
        // Only Linux can limit the files of another process.
        if (process.platform !== 'linux') return undefined
        return this.#withOne('worker', planned, (member) =>
          this.#makeUnavailable(planned, () => refuseWrites(member), member),
        )
      case 'refuse_password':
        return this.#withDatabase(({ url }) =>
          this.#makeUnavailable(planned, () => refusePassword(url, this.#options.database)),
        )
      case 'stop_database':
      case 'crash_database':
        return this.#withDatabase((server) =>
          this.#makeUnavailable(planned, async () => {
            await (planned.kind === 'stop_database' ? server.stop() : server.kill())
            return server.start
          }),
        )
      case 'fail_over':
      case 'fail_over_synchronously':
        return this.#withDatabase((server) => failOver(server, planned.lastsMs))
      case 'kill_nats_leader':
        return this.#withNats((nats) => nats.killLeader(planned))
      case 'stop_nats':
        return this.#withNats((nats) => nats.stopAll(planned))
      case 'refuse_nats':
        return this.#withNats((nats) => nats.refuseAll(planned))
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

  async #withDatabase(
    hurt: (server: FailoverServer) => Promise<void>,
  ): Promise<readonly number[] | undefined> {
    const { postgres } = this.#options
    if (this.#isDatabaseHit || postgres === undefined) return undefined
    this.#isDatabaseHit = true
    try {
      await hurt(postgres.server)
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

  /** Locks the store. With Postgres, writers of runs only wait. */
  #lock(planned: PlannedFault): Promise<readonly number[] | undefined> {
    const { database, postgres } = this.#options
    const lock = (): Promise<EndFault> => database.dialect.lock()
    if (postgres === undefined) {
      return this.#withOne('worker', planned, (member) =>
        this.#makeUnavailable(planned, lock, member),
      )
    }
    return this.#withDatabase(async () => {
      const end = await lock()
      await sleep(planned.lastsMs)
      await end()
    })
  }

  /**
   * Makes the store unavailable for the planned time, and until the readiness of a process shows it. Then waits until the
   * process is ready again.
   */
  async #makeUnavailable(
    { kind, lastsMs, which }: PlannedFault,
    begin: () => Promise<EndFault>,
    hit?: Member,
  ): Promise<void> {
    const apis = this.#options.fleet.sparable('api')
    const member = hit ?? apis[Math.floor(which * apis.length)]
    const check = async (wanted: 200 | 503): Promise<void> => {
      const checked = member && (await checkHealth(member, kind, wanted))
      if (checked !== undefined) this.health.push(checked)
    }
    const end = await begin()
    try {
      await Promise.all([sleep(lastsMs), check(503)])
    } finally {
      await end()
    }
    await check(200)
  }
}

type EndFault = () => Promise<void>

/** Lets the kernel refuse each write of a process to a file. */
function refuseWrites({ pid }: Member): Promise<EndFault> {
  const limit = (size: string): void => {
    execFileSync('prlimit', ['--pid', String(pid), `--fsize=${size}:`])
  }
  limit('1')
  return Promise.resolve(async () => {
    limit('unlimited')
  })
}

/** Changes the password of the database, and ends all connections, so that the processes need it. */
async function refusePassword(url: string, database: ChaosDatabase): Promise<EndFault> {
  const other = new URL(url)
  const set = (password: string): string => `ALTER ROLE ${other.username} PASSWORD '${password}'`
  const { password } = other
  other.password = 'changed'
  await database.read(set(other.password))
  const outside = new ChaosDatabase(other.href)
  await outside.cutConnections()
  return async () => {
    await outside.read(set(password))
  }
}

/** Kills the primary after its standby has received nothing for a time, and promotes the standby. */
async function failOver(server: FailoverServer, stallMs: number): Promise<void> {
  await server.catchUp()
  await server.stall()
  await sleep(stallMs)
  await server.failOver()
}

/** Returns whether a fault is a failover. */
export function isFailover({ kind }: Pick<PlannedFault, 'kind'>): boolean {
  return kind === 'fail_over' || kind === 'fail_over_synchronously'
}
