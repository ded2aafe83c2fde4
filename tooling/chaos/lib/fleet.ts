/**
 * The processes of the system, supervised: a process that ends is started again.
 *
 * CHAOS-F1 A process that ended unexpectedly is reported, unless it could not start without a database.
 * CHAOS-F2 A fault has its process exclusively until it runs again. Half of the processes with the same role are
 *    spared, so that runs progress also where processes start slowly, except for faults that affect all.
 * CHAOS-F3 Disposing the fleet always ends all processes.
 */
import { setTimeout as sleep } from 'node:timers/promises'

import { BUILDS, type BuildName } from './builds.ts'
import { ServerProcess, type ProcessEnd } from './server-process.ts'

/** Role of a process; `all` for the only one, which has both others. */
export type Role = 'api' | 'worker' | 'all'

export interface FleetOptions {
  readonly environment: Readonly<Record<string, string>>
  readonly cwd: string
  /** Program of the workers. @default the server */
  readonly workerProgram?: readonly string[] | undefined
  /** Called for each process that ended or behaved unexpectedly. */
  readonly onProblem: (problem: string) => void
}

/** Role, port and first build of a member. */
export interface MemberSetup {
  readonly role: Role
  readonly port: number
  /** @default the first build */
  readonly build?: BuildName
  /** Further variables of its processes. @default none */
  readonly environment?: Readonly<Record<string, string>>
}

interface MemberOptions extends FleetOptions {
  /** Gets the build of each process. */
  readonly builds: Map<number, BuildName>
}

/** Delay before a process that ended unexpectedly is started again, in milliseconds. */
const RESTART_MS = 300

/** A member of the fleet, with its current process. */
export class Member {
  readonly name: string
  readonly role: Role
  readonly #options: MemberOptions
  readonly #port: number
  readonly #environment: Readonly<Record<string, string>>
  #process: ServerProcess | undefined
  /** Whether the process is expected to end. */
  #isWanted = false
  /** Whether a fault uses it. */
  isHit = false
  /** Build of the processes that it starts from now on. */
  build: BuildName

  constructor(name: string, setup: MemberSetup, options: MemberOptions) {
    this.name = name
    this.role = setup.role
    this.build = setup.build ?? BUILDS[0]
    this.#port = setup.port
    this.#options = options
    this.#environment = { ...options.environment, ...setup.environment }
  }

  /** Address of the process. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get pid(): number {
    return this.#process?.pid ?? 0
  }

  get isReady(): boolean {
    return this.#process?.isReady ?? false
  }

  /** End of its output. */
  get said(): string {
    return this.#process?.said ?? ''
  }

  /** Starts a process, and a new one whenever it ends unexpectedly. */
  start(): void {
    const { cwd, workerProgram, builds } = this.#options
    this.#isWanted = true
    const started = new ServerProcess(
      {
        ...this.#environment,
        TUTTI_ROLE: this.role,
        PORT: String(this.#port),
        TUTTI_BUILD_ID: this.build,
        CHAOS_BUILD: this.build,
      },
      cwd,
      this.role === 'worker' && workerProgram !== undefined ? { program: workerProgram } : {},
    )
    builds.set(started.pid, this.build)
    this.#process = started
    void started.ended.then((end) => this.#startAgain(started, end))
  }

  /** Resolves with true when it is ready, possibly after several processes; with false at the time limit. */
  async becomesReady(limitMs: number): Promise<boolean> {
    const until = performance.now() + limitMs
    while (!this.isReady && performance.now() < until) await sleep(25)
    return this.isReady
  }

  /** Sends a signal; the process is not expected to end. */
  send(signal: NodeJS.Signals): void {
    this.#process?.send(signal)
  }

  /** Sends a signal that ends it; resolves with its exit, or undefined at the time limit. */
  async end(signal: NodeJS.Signals, limitMs: number): Promise<ProcessEnd | undefined> {
    this.#isWanted = false
    this.#process?.send(signal)
    return Promise.race([this.#process?.ended, sleep(limitMs, undefined, { ref: false })])
  }

  async #startAgain(ended: ServerProcess, { code, signal, wasReady }: ProcessEnd): Promise<void> {
    if (!this.#isWanted || this.#process !== ended) return
    const lacksDatabase = !wasReady && /run store|ECONNREFUSED|Postgres/.test(ended.said)
    if (!lacksDatabase) {
      const how = signal ?? `code ${code}`
      this.#options.onProblem(`${this.name} (${ended.pid}) ended by itself: ${how}\n${ended.said}`)
    }
    await sleep(RESTART_MS, undefined, { ref: false })
    if (this.#isWanted && this.#process === ended) this.start()
  }
}

/** All processes. */
export class Fleet implements AsyncDisposable {
  readonly #members: Member[] = []
  readonly #options: MemberOptions

  constructor(options: FleetOptions) {
    this.#options = { ...options, builds: new Map() }
  }

  get members(): readonly Member[] {
    return this.#members
  }

  /** Build of each process so far, by its id. */
  get builds(): ReadonlyMap<number, BuildName> {
    return this.#options.builds
  }

  /** Adds a member; it has no process yet. */
  add(name: string, setup: MemberSetup): Member {
    const member = new Member(name, setup, this.#options)
    this.#members.push(member)
    return member
  }

  /** Returns all members with this role if no fault uses any of them; else none. */
  allWhole(role: Role): readonly Member[] {
    const whole = this.#whole(role)
    return whole.length === this.#all(role).length ? whole : []
  }

  /** Returns the members with this role that no fault uses, if enough others remain; else none. */
  sparable(role: Role): readonly Member[] {
    const whole = this.#whole(role)
    return whole.length > this.#all(role).length / 2 ? whole : []
  }

  #whole(role: Role): readonly Member[] {
    return this.#all(role).filter((member) => !member.isHit && member.isReady)
  }

  #all(role: Role): readonly Member[] {
    return this.members.filter((member) => member.role === role || member.role === 'all')
  }

  /** Ends all processes concurrently. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.members.map((member) => member.end('SIGKILL', 5_000)))
  }
}
