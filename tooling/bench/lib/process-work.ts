/** The counts of `fixtures/count-work.ts`. */

/** Names the file to which a process writes its work when it exits. */
export const WORK_FILE = 'TUTTI_BENCH_WORK'

/** Work of a process since its start. */
export interface ProcessWork {
  readonly promises: number
  /** Memory that V8 has allocated, without that of buffers. */
  readonly allocatedBytes: number
}
