/** A store that only implements `commit`. It stores writes in memory, each once (RUNS-P7). */
import type { RunStore, RunWrite, WriteResult } from '@tutti/runs/adapter'
import type { LoggedRunEvent } from '@tutti/protocol'

/** Stores and numbers writes. */
export class FakeCommits implements Pick<RunStore, 'commit'> {
  /** All received batches, as they were on arrival. */
  readonly batches: (readonly RunWrite[])[] = []
  /** Stored events of all runs, in the order of writing. */
  readonly stored: LoggedRunEvent[] = []
  /** Awaited before a batch is processed. */
  before: ((batch: number) => Promise<void>) | undefined
  /** Returns the result of a write; `keep` stores it and returns its result. @default keep */
  reply: ((write: RunWrite, keep: () => WriteResult) => WriteResult) | undefined
  readonly #answers = new Map<string, WriteResult>()

  /** All received writes, in order. */
  get writes(): readonly RunWrite[] {
    return this.batches.flat()
  }

  async commit(writes: readonly RunWrite[]): Promise<readonly WriteResult[]> {
    this.batches.push(structuredClone(writes))
    await this.before?.(this.batches.length)
    return writes.map((write) => {
      const keep = (): WriteResult => this.#keep(write)
      return this.reply?.(write, keep) ?? keep()
    })
  }

  #keep({ runId, token, writeNo, events }: RunWrite): WriteResult {
    const key = `${runId} ${token} ${writeNo}`
    const known = this.#answers.get(key)
    if (known !== undefined) return known
    let seq = this.stored.filter((event) => event.runId === runId).length
    const logged = events.map((event) => ({ ...event, runId, seq, id: `${runId}:${seq++}` }))
    this.stored.push(...logged)
    const answer: WriteResult = { kind: 'written', events: logged }
    this.#answers.set(key, answer)
    return answer
  }
}

/** The result of a store that cannot be reached. */
export const UNAVAILABLE: WriteResult = { kind: 'unavailable', error: new Error('no connection') }
