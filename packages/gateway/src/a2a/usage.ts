/**
 * Pure: the extension with which an agent says what a task has used, and a caller what it may use. Its fields
 * are in `metadata` under its address; an answer has them only for a caller that asks for the extension, by the
 * header `A2A-Extensions` or by its own fields.
 */
import { Type } from '@tutti/core'
import {
  decode,
  type LoggedRunEvent,
  type Problem,
  type RunEvent,
  USAGE_EXTENSION,
} from '@tutti/protocol'

import { eventUsage } from '../peer/event-usage.ts'
import { invalidParams } from './a2a-error.ts'
import { isObject } from './modern-params.ts'

/** What a task has used so far. */
export interface Usage {
  readonly tokens: number
  /** In US dollars; undefined as soon as something was used whose price is not known. */
  readonly costUsd: number | undefined
}

/** Nothing. */
export const NO_USAGE: Usage = { tokens: 0, costUsd: 0 }

/** Types of the events that say what was used. */
export const USAGE_EVENTS = [
  'llm_iteration_completed',
  'agent_tool_progress',
  'agent_tool_turn',
  'agent_tool_completed',
  'agent_tool_terminated',
  'agent_tool_error',
] as const satisfies readonly LoggedRunEvent['type'][]

/** What was used up to an event, this one included. An agent that does not say what it costs costs nothing. */
export function usageAfter(usage: Usage, event: RunEvent): Usage {
  const used = eventUsage(event)
  if (used === undefined) return usage
  const isUnknown = event.type === 'llm_iteration_completed' && used.tokens > 0
  const costUsd = used.costUsd ?? (isUnknown ? undefined : 0)
  return { tokens: usage.tokens + used.tokens, costUsd: sum(usage.costUsd, costUsd) }
}

function sum(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one + other
}

/** Metadata that say what was used in all, and what of it since `before`. */
export function usageMetadata(now: Usage, before?: Usage): Readonly<Record<string, unknown>> {
  const delta = difference(now.costUsd, before?.costUsd)
  return {
    [USAGE_EXTENSION]: {
      total_tokens: now.tokens,
      ...(now.costUsd === undefined ? {} : { total_cost_usd: now.costUsd }),
      ...(before === undefined || delta === undefined ? {} : { cost_usd: delta }),
    },
  }
}

function difference(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one - other
}

const Positive = Type.Number({ exclusiveMinimum: 0 })

const Limits = Type.Object({
  max_cost_usd: Type.Optional(Positive),
  max_tokens: Type.Optional(Positive),
  deadline_ms: Type.Optional(Positive),
})

/** What a caller lets a task use. */
export interface UsageLimits {
  readonly maxCostUsd?: number
  readonly maxTokens?: number
  /** How long the task may take from its submission, in milliseconds. */
  readonly deadlineMs?: number
}

/**
 * The limits in the metadata of a request; undefined when it says nothing of usage.
 *
 * @throws {A2aError} INVALID_PARAMS naming every limit that is none.
 */
export function usageLimits(metadata: object | undefined): UsageLimits | undefined {
  const read = readLimits(metadata)
  if (read === undefined || read.ok) return read?.limits
  throw invalidParams(
    read.problems.map((problem) => ({ ...problem, path: `/metadata${problem.path}` })),
  )
}

/** Limits, or every one that is none, by its place in the metadata. */
export type ReadLimits =
  | { readonly ok: true; readonly limits: UsageLimits }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** What the metadata of a request say of limits; undefined when they say nothing of usage. */
export function readLimits(metadata: unknown): ReadLimits | undefined {
  const asked = isObject(metadata) ? metadata[USAGE_EXTENSION] : undefined
  if (asked === undefined) return undefined
  const decoded = decode(Limits, asked)
  if (!decoded.ok) {
    const place = `/${USAGE_EXTENSION.replaceAll('/', '~1')}`
    const problems = decoded.problems.map((problem) => ({
      ...problem,
      path: `${place}${problem.path}`,
    }))
    return { ok: false, problems }
  }
  const { max_cost_usd: maxCostUsd, max_tokens: maxTokens, deadline_ms: deadlineMs } = decoded.value
  const limits = {
    ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  }
  return { ok: true, limits }
}
