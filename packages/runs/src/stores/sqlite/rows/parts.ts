/** The parts that the ports of one open embedded store share. */
import type { DiskState } from '../database/disk-state.ts'
import type { NotificationHub } from '../../shared/notification-hub.ts'
import type { OwnedRuns } from '../../shared/log/owned-runs.ts'
import type { RunRows } from './run-rows.ts'
import type { SqliteStatements } from '../database/statements.ts'
import type { Transaction } from '../database/transaction.ts'
import type { TurnTransaction } from '../database/turn-transaction.ts'
import type { Clock } from '@tutti/core'
import type { DatabaseSync } from 'node:sqlite'

/** Shared parts of one open embedded store. */
export interface SqliteParts {
  readonly database: DatabaseSync
  readonly clock: Pick<Clock, 'now'>
  readonly transaction: Transaction
  /** Writes in a transaction shared with the other writes of this turn of the event loop. */
  readonly inTurn: TurnTransaction
  readonly statements: SqliteStatements
  readonly rows: RunRows
  /** The runs that this process writes. */
  readonly owned: OwnedRuns
  readonly hub: NotificationHub
  readonly disk: Pick<DiskState, 'judge'>
}
