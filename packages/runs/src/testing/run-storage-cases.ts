/**
 * The cases that every adapter of the storage ports passes. A test of an adapter opens an empty storage
 * for each case and runs it; a case throws when the adapter breaks its contract, whose rules are in the
 * heads of the ports: P1 to P12, L1 to L12, W1 to W4, O1 to O4, A1 to A3, X1, M1 to M4.
 *
 * Time passes for the storage only as the test lets it, or also by itself: cases leave a second between
 * what they expect to be over and what not.
 */
import { auditCases } from './audit-cases.ts'
import { claimCases } from './claim-cases.ts'
import { commitCases } from './commit-cases.ts'
import { createCases } from './create-cases.ts'
import { deleteCases } from './delete-cases.ts'
import { endCases } from './end-cases.ts'
import { figuresCases } from './figures-cases.ts'
import { listCases } from './list-cases.ts'
import { memoryCases } from './memory-cases.ts'
import { outboxCases } from './outbox-cases.ts'
import { quotaCases } from './quota-cases.ts'
import { readCases } from './read-cases.ts'
import { recordCases } from './record-cases.ts'
import { releaseCases } from './release-cases.ts'
import { unownedWriteCases } from './unowned-write-cases.ts'
import { secretCases } from './secret-cases.ts'
import { commandCases } from './command-cases.ts'
import { sizeCases } from './size-cases.ts'
import { waitingCases } from './waiting-cases.ts'

import type { StorageCase } from './storage-case.ts'

/** The cases. */
export const runStorageCases: readonly StorageCase[] = [
  ...createCases,
  ...commitCases,
  ...recordCases,
  ...readCases,
  ...listCases,
  ...sizeCases,
  ...endCases,
  ...claimCases,
  ...releaseCases,
  ...waitingCases,
  ...unownedWriteCases,
  ...commandCases,
  ...quotaCases,
  ...deleteCases,
  ...outboxCases,
  ...auditCases,
  ...secretCases,
  ...memoryCases,
  ...figuresCases,
]
