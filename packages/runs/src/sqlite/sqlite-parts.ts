/** What the ports of one open embedded store share. */
import type { NotificationHub } from '../feed/notification-hub.ts'
import type { RunRows } from './run-rows.ts'
import type { Transaction } from './transaction.ts'
import type { TurnTransaction } from './turn-transaction.ts'
import type { Clock } from '@tutti/core'
import type { DatabaseSync } from 'node:sqlite'

/** What the ports of one open embedded store share. */
export interface SqliteParts {
  readonly database: DatabaseSync
  readonly clock: Clock
  readonly transaction: Transaction
  /** A transaction shared with what else is written in this turn of the event loop. */
  readonly inTurn: TurnTransaction
  readonly rows: RunRows
  readonly hub: NotificationHub
}
