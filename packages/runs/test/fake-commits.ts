/** A store of which only `commit` works. It keeps writes in memory, each once, as RUNS-P7 has it. */
import type { RunStore, RunWrite, WriteResult } from '@tutti/runs'
import type { LoggedRunEvent } from '@tutti/protocol'

/** Keeps what is written and numbers it. */
export class FakeCommits implements Pick<RunStore, 'commit'> {
  /** Every batch that came, as it was when it came. */
  readonly batches: (readonly RunWrite[])[] = []
  /** Events that are kept, of all runs, in the order of writing. */
  readonly kept: LoggedRunEvent[] = []
  /** Awaited before a batch is looked at. */
  before: ((batch: number) => Promise<void>) | undefined
  /** Answers a write; `keep` keeps it and gives the answer to that. @default keep */
  reply: ((write: RunWrite, keep: () => WriteResult) => WriteResult) | undefined
  readonly #answers = new Map<string, WriteResult>()

  /** Every write that came, in order. */
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

  #keep({ runId, epoch, writeNo, events }: RunWrite): WriteResult {
    const key = `${runId} ${epoch} ${writeNo}`
    const known = this.#answers.get(key)
    if (known !== undefined) return known
    let seq = this.kept.filter((event) => event.runId === runId).length
    const logged = events.map((event) => ({ ...event, runId, seq, id: `${runId}:${seq++}` }))
    this.kept.push(...logged)
    const answer: WriteResult = { kind: 'written', events: logged }
    this.#answers.set(key, answer)
    return answer
  }
}

/** The answer of a store that cannot be reached. */
export const UNAVAILABLE: WriteResult = { kind: 'unavailable', error: new Error('no connection') }
