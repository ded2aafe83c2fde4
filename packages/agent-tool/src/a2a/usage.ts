/**
 * Cost and tokens over A2A, which has no word for them: an extension of ours, whose fields are in `metadata`
 * under its address. Pure.
 *
 * U1 What is known is the sum of the conversation: totals are of one task, and a conversation may be several.
 * U2 A total counts before what came since; nothing goes down again.
 * U3 A snapshot of a task has the last metadata of all its updates, so what it says of the time since the last
 *    report counts only when nothing else is known of the task.
 */
import { isJsonObject, USAGE_EXTENSION } from '@tutti/protocol'

import type { A2aNews, JsonObject } from './wire.ts'

import type { AgentUsageReport } from '@tutti/agent-call'
import type { Remaining } from '@tutti/core'

/** The limits that there are, for the metadata of a request; undefined when there are none. */
export function limitsMetadata({ timeMs, costUsd, tokens }: Remaining): JsonObject | undefined {
  const limits = {
    ...(Number.isFinite(costUsd) ? { max_cost_usd: costUsd } : {}),
    ...(Number.isFinite(tokens) ? { max_tokens: tokens } : {}),
    ...(Number.isFinite(timeMs) && timeMs > 0 ? { deadline_ms: Math.ceil(timeMs) } : {}),
  }
  return Object.keys(limits).length === 0 ? undefined : { [USAGE_EXTENSION]: limits }
}

/** What one object says. */
interface Said {
  readonly costUsd: number | undefined
  readonly totalCostUsd: number | undefined
  readonly totalTokens: number | undefined
}

/** Adds up what the tasks of a conversation say. */
export class UsageLedger {
  /** Of the tasks before the one at hand. */
  #costBefore = 0
  #tokensBefore = 0
  #cost: number | undefined
  #tokens: number | undefined
  #taskId: string | undefined
  #hasCost = false
  #hasTokens = false

  /** Takes what has come of a task; gives the sums of the conversation when it says anything of them. */
  add(news: A2aNews, taskId: string | undefined): AgentUsageReport | undefined {
    if (taskId !== this.#taskId) this.#begin(taskId)
    const said = saidBy(news)
    if (said === undefined) return undefined
    const { totalCostUsd, totalTokens } = said
    const isSnapshot = news.task !== undefined
    const costUsd = isSnapshot && this.#cost !== undefined ? undefined : said.costUsd
    if (totalCostUsd !== undefined) this.#cost = Math.max(this.#cost ?? 0, totalCostUsd)
    else if (costUsd !== undefined) this.#cost = (this.#cost ?? 0) + costUsd
    if (totalTokens !== undefined) this.#tokens = Math.max(this.#tokens ?? 0, totalTokens)
    return this.#sums()
  }

  #begin(taskId: string | undefined): void {
    this.#costBefore += this.#cost ?? 0
    this.#tokensBefore += this.#tokens ?? 0
    this.#cost = undefined
    this.#tokens = undefined
    this.#taskId = taskId
  }

  #sums(): AgentUsageReport | undefined {
    this.#hasCost ||= this.#cost !== undefined
    this.#hasTokens ||= this.#tokens !== undefined
    if (!this.#hasCost && !this.#hasTokens) return undefined
    return {
      ...(this.#hasCost ? { totalCostUsd: this.#costBefore + (this.#cost ?? 0) } : {}),
      ...(this.#hasTokens ? { totalTokens: this.#tokensBefore + (this.#tokens ?? 0) } : {}),
    }
  }
}

/** What the first of the metadata says that says anything, from the outside in. */
function saidBy(news: A2aNews): Said | undefined {
  const { task, message, statusUpdate, artifactUpdate } = news
  const places = [
    task?.metadata,
    message?.metadata,
    statusUpdate?.metadata,
    statusUpdate?.status?.message?.metadata,
    artifactUpdate?.metadata,
    artifactUpdate?.artifact?.metadata,
    task?.status?.message?.metadata,
  ]
  for (const metadata of places) {
    const said = metadata === undefined ? undefined : readUsage(metadata)
    if (said !== undefined) return said
  }
  return undefined
}

function readUsage(metadata: JsonObject): Said | undefined {
  const extension = metadata[USAGE_EXTENSION]
  const fields = isJsonObject(extension) ? extension : {}
  const said = {
    costUsd: amount(fields['cost_usd']) ?? amount(metadata['cost_usd']),
    totalCostUsd: amount(fields['total_cost_usd']),
    totalTokens: amount(fields['total_tokens']),
  }
  return Object.values(said).every((value) => value === undefined) ? undefined : said
}

function amount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}
