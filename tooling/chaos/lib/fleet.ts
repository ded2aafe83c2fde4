/**
 * The processes of the system, each kept running as a supervisor does: one that ends is started again.
 *
 * F1 A process that ended although nobody wanted it is reported, unless it could not begin for want of a
 *    database.
 * F2 A fault has its process for itself until it runs again. Half of those that do the same are spared,
 *    so that runs get further also where processes take long to start; but for faults that hit all.
 * F3 Whatever happens, no process is left when the fleet is disposed of.
 */
import { setTimeout as sleep } from 'node:timers/promises'

import { ServerProcess, type ProcessEnd } from './server-process.ts'

/** What a process does. */
export type Role = 'api' | 'worker'

/** How the processes are started. */
export interface FleetOptions {
  readonly environment: Readonly<Record<string, string>>
  readonly cwd: string
  /** Told of each process that ended by itself, or did not do what it should. */
  readonly onProblem: (problem: string) => void
}

/** How long to wait before a process that ended by itself is started again, in milliseconds. */
const RESTART_MS = 300

/** One place of the fleet, with the process that has it. */
export class Member {
  readonly name: string
  readonly role: Role
  readonly #options: FleetOptions
  readonly #port: number
  #process: ServerProcess | undefined
  /** Whether the process is meant to end. */
  #isWanted = false
  /** Whether a fault has it. */
  isHit = false

  constructor(
    name: string,
    place: { readonly role: Role; readonly port: number },
    options: FleetOptions,
  ) {
    this.name = name
    this.role = place.role
    this.#port = place.port
    this.#options = options
  }

  /** Where it is reached. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get pid(): number {
    return this.#process?.pid ?? 0
  }

  get isReady(): boolean {
    return this.#process?.isReady ?? false
  }

  /** What it said last. */
  get said(): string {
    return this.#process?.said ?? ''
  }

  /** Starts a process, and another one whenever it ends by itself. */
  start(): void {
    const { environment, cwd } = this.#options
    this.#isWanted = true
    const started = new ServerProcess(
      { ...environment, TUTTI_ROLE: this.role, PORT: String(this.#port) },
      cwd,
    )
    this.#process = started
    void started.ended.then((end) => this.#startAgain(started, end))
  }

  /** Resolves when it is ready, also when it takes several processes; false when that takes too long. */
  async becomesReady(limitMs: number): Promise<boolean> {
    const until = performance.now() + limitMs
    while (!this.isReady && performance.now() < until) await sleep(25)
    return this.isReady
  }

  /** Sends a signal; the process goes on being wanted. */
  send(signal: NodeJS.Signals): void {
    this.#process?.send(signal)
  }

  /** Sends a signal that ends it; resolves with its end, or undefined when that takes too long. */
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
  readonly members: readonly Member[]

  constructor(members: readonly Member[]) {
    this.members = members
  }

  /** The members that do this, when no fault has any of them; else none. */
  allWhole(role: Role): readonly Member[] {
    const whole = this.#whole(role)
    return whole.length === this.#all(role).length ? whole : []
  }

  /** The members that do this and that no fault has, when the others are enough to go on; else none. */
  sparable(role: Role): readonly Member[] {
    const whole = this.#whole(role)
    return whole.length > this.#all(role).length / 2 ? whole : []
  }

  #whole(role: Role): readonly Member[] {
    return this.#all(role).filter((member) => !member.isHit && member.isReady)
  }

  #all(role: Role): readonly Member[] {
    return this.members.filter((member) => member.role === role)
  }

  /** Ends all at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.members.map((member) => member.end('SIGKILL', 5_000)))
  }
}
