/** A write as a store saves it: text and numbers, which can be sent to another thread. */
import type { Change } from '../domain/change.ts'
import type { StoredData } from './stored-values.ts'

/** The events, steps and answers of a write, and the changes of the records that follow from them. */
export interface PreparedWrite {
  readonly events: readonly PreparedEvent[]
  readonly steps: readonly PreparedStep[]
  readonly answers: readonly PreparedAnswer[]
  /** Changes of the run's records, in order. */
  readonly changes: readonly Change[]
}

/** An event as a store saves it. */
export interface PreparedEvent extends StoredData {
  readonly type: string
  /** Whether it is delivered to the webhooks of its run. */
  readonly isDelivered: boolean
}

/** A step as a store saves it. */
export interface PreparedStep extends StoredData {
  /** Index of its event in the write. */
  readonly event: number
}

/** The answer to a command, as JSON. */
export interface PreparedAnswer {
  readonly commandId: string
  readonly answer: string
}

/** The result of a stored write: the sequence number of its first event. */
export interface WrittenFrom {
  readonly kind: 'written'
  readonly firstSeq: number
}

/** Whether the write ends its run. */
export function endsRun({ events }: Pick<PreparedWrite, 'events'>): boolean {
  return events.some(({ type }) => type === 'run_result')
}
