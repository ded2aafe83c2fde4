/**
 * The cases that every adapter of the storage ports passes. A test of an adapter opens an empty storage for each case
 * and runs it. A case throws when the adapter breaks a rule of the headers in `ports`: RUNS-P, RUNS-L, RUNS-W1 to
 * RUNS-W4, RUNS-O, RUNS-A, RUNS-Y, RUNS-M, RUNS-H and RUNS-EV1 to RUNS-EV7, RUNS-Z1 to RUNS-Z6, RUNS-SC1 to RUNS-SC4; and RUNS-K of `log/stored-values.ts`.
 *
 * The clock of the storage may be controlled by the test or be real. Cases therefore leave a second between the
 * instants that they expect to have passed and those that they do not.
 */
import { auditCases } from './tables/audit-cases.ts'
import { buildCases } from './tables/build-cases.ts'
import { claimCases } from './queue/claim-cases.ts'
import { orderCases } from './queue/order-cases.ts'
import { commitCases } from './log/commit-cases.ts'
import { createCases } from './runs/create-cases.ts'
import { deleteCases } from './runs/delete-cases.ts'
import { endCases } from './log/end-cases.ts'
import { forkCases } from './runs/fork-cases.ts'
import { metricsCases } from './queue/metrics-cases.ts'
import { listCases } from './runs/list-cases.ts'
import { memoryCases } from './tables/memory-cases.ts'
import { outboxCases } from './tables/outbox-cases.ts'
import { quotaCases } from './runs/quota-cases.ts'
import { readCases } from './runs/read-cases.ts'
import { recordCases } from './runs/record-cases.ts'
import { releaseCases } from './queue/release-cases.ts'
import { unownedWriteCases } from './log/unowned-write-cases.ts'
import { externalEventCases } from './tables/external-event-cases.ts'
import { scheduleCases } from './tables/schedule-cases.ts'
import { secretCases } from './tables/secret-cases.ts'
import { threadCases } from './runs/thread-cases.ts'
import { commandCases } from './queue/command-cases.ts'
import { sizeCases } from './runs/size-cases.ts'
import { oddValueCases } from './runs/odd-value-cases.ts'
import { valueCases } from './runs/value-cases.ts'
import { startTimeCases } from './queue/start-time-cases.ts'
import { waitingCases } from './queue/waiting-cases.ts'

import type { StorageCase } from './support/storage-case.ts'

/** Tests that each store passes. */
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
  ...orderCases,
  ...releaseCases,
  ...startTimeCases,
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
  ...externalEventCases,
  ...scheduleCases,
  ...memoryCases,
  ...metricsCases,
]
