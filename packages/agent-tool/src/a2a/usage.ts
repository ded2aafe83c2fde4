/**
 * Sums up the usage that the tasks of a conversation report over A2A, in metadata under the usage extension. No I/O.
 *
 * AGENT-U1 A report is the sum of the conversation: totals are of one task, and a conversation may have several.
 * AGENT-U2 A total takes precedence over the parts since; sums never decrease.
 * AGENT-U3 The snapshot of a task has the last metadata of all its updates, so its cost since the last report counts
 *    only when no other usage of the task is known.
 */
import { addAmounts } from '@tutti/protocol/internal'

import { readUsageMetadata, type UsageInMetadata } from '../usage-metadata.ts'

import type { AgentUsageReport } from '@tutti/agent-call/internal'
import type { A2aStreamItem } from './wire.ts'

/** Sums up the usage of a conversation. */
export class UsageLedger {
  /** Usage of the tasks before the current one. */
  #costBefore = 0
  #tokensBefore = 0
  #cost: number | undefined
  #tokens: number | undefined
  #taskId: string | undefined
  #hasCost = false
  #hasTokens = false

  /** Adds an object that arrived for a task; returns the sums of the conversation when it reports any. */
  add(item: A2aStreamItem, taskId: string | undefined): AgentUsageReport | undefined {
    if (taskId !== this.#taskId) this.#begin(taskId)
    const usage = findUsage(item)
    if (usage === undefined) return undefined
    const { totalCostUsd, totalTokens } = usage
    const isSnapshot = item.task !== undefined
    const costUsd = isSnapshot && this.#cost !== undefined ? undefined : usage.costUsd
    if (totalCostUsd !== undefined) this.#cost = Math.max(this.#cost ?? 0, totalCostUsd)
    else if (costUsd !== undefined) this.#cost = addAmounts(this.#cost ?? 0, costUsd)
    if (totalTokens !== undefined) this.#tokens = Math.max(this.#tokens ?? 0, totalTokens)
    return this.#sums()
  }

  #begin(taskId: string | undefined): void {
    this.#costBefore = addAmounts(this.#costBefore, this.#cost ?? 0)
    this.#tokensBefore = addAmounts(this.#tokensBefore, this.#tokens ?? 0)
    this.#cost = undefined
    this.#tokens = undefined
    this.#taskId = taskId
  }

  #sums(): AgentUsageReport | undefined {
    this.#hasCost ||= this.#cost !== undefined
    this.#hasTokens ||= this.#tokens !== undefined
    if (!this.#hasCost && !this.#hasTokens) return undefined
    return {
      ...(this.#hasCost ? { totalCostUsd: addAmounts(this.#costBefore, this.#cost ?? 0) } : {}),
      ...(this.#hasTokens
        ? { totalTokens: addAmounts(this.#tokensBefore, this.#tokens ?? 0) }
        : {}),
    }
  }
}

/** Reads the first usage that an object reports, from its outermost metadata inwards. */
function findUsage(item: A2aStreamItem): UsageInMetadata | undefined {
  const { task, message, statusUpdate, artifactUpdate } = item
  const carriers = [
    task?.metadata,
    message?.metadata,
    statusUpdate?.metadata,
    statusUpdate?.status?.message?.metadata,
    artifactUpdate?.metadata,
    artifactUpdate?.artifact?.metadata,
    task?.status?.message?.metadata,
  ]
  for (const metadata of carriers) {
    const usage = readUsageMetadata(metadata)
    if (usage !== undefined) return usage
  }
  return undefined
}
