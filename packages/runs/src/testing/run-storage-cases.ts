/**
 * The cases that every adapter of the storage ports passes. A test of an adapter opens an empty storage for each case
 * and runs it. A case throws when the adapter breaks a rule of the headers in `../ports`: RUNS-P, RUNS-L, RUNS-W1 to
 * RUNS-W4, RUNS-O, RUNS-A, RUNS-Y, RUNS-M, RUNS-H and RUNS-Z1 to RUNS-Z6; and RUNS-K of `../commit/stored-values.ts`.
 *
 * The clock of the storage may be controlled by the test or be real. Cases therefore leave a second between the
 * instants that they expect to have passed and those that they do not.
 */
import { auditCases } from './audit-cases.ts'
import { buildCases } from './build-cases.ts'
import { claimCases } from './claim-cases.ts'
import { commitCases } from './commit-cases.ts'
import { createCases } from './create-cases.ts'
import { deleteCases } from './delete-cases.ts'
import { endCases } from './end-cases.ts'
import { forkCases } from './fork-cases.ts'
import { metricsCases } from './metrics-cases.ts'
import { listCases } from './list-cases.ts'
import { memoryCases } from './memory-cases.ts'
import { outboxCases } from './outbox-cases.ts'
import { quotaCases } from './quota-cases.ts'
import { readCases } from './read-cases.ts'
import { recordCases } from './record-cases.ts'
import { releaseCases } from './release-cases.ts'
import { unownedWriteCases } from './unowned-write-cases.ts'
import { secretCases } from './secret-cases.ts'
import { threadCases } from './thread-cases.ts'
import { commandCases } from './command-cases.ts'
import { sizeCases } from './size-cases.ts'
import { oddValueCases } from './odd-value-cases.ts'
import { valueCases } from './value-cases.ts'
import { waitingCases } from './waiting-cases.ts'

import type { StorageCase } from './storage-case.ts'

export const runStorageCases: readonly StorageCase[] = [
  ...createCases,
  ...commitCases,
  ...recordCases,
  ...readCases,
  ...listCases,
  ...sizeCases,
  ...valueCases,
  ...oddValueCases,
  ...endCases,
  ...claimCases,
  ...releaseCases,
  ...buildCases,
  ...waitingCases,
  ...unownedWriteCases,
  ...commandCases,
  ...quotaCases,
  ...deleteCases,
  ...forkCases,
  ...threadCases,
  ...outboxCases,
  ...auditCases,
  ...secretCases,
  ...memoryCases,
  ...metricsCases,
]
