/**
 * Decides whether a request continues the run that waits for tools of its client.
 *
 * GW-G5 A request continues a run if it repeats the whole request that began it (model, instructions, conversation,
 *    tools, output schema and limits), and adds only the calls of the run with their results. Any other request begins a
 *    run, with its messages as history. If it has results for which the earlier run waits, that run is cancelled.
 * GW-G6 Results that are sent again return the part of the run that they began. Another result for an answered call
 *    begins a run.
 */
import { formatCanonicalJson } from '@tutti/core/internal'
import { isTerminalRunStatus } from '@tutti/protocol'
import type { RunService } from '@tutti/runs'
import type { RunRecord } from '@tutti/runs/adapter'
import { eventPages } from '@tutti/runs/internal'
import { hash } from 'node:crypto'

import { sharedEnsembles } from './sharing.ts'

import type { ModelRun } from './find-model.ts'
import type { GatewayCall } from './gateway-call.ts'
import type { BeginRequest, GatewayService } from './gateway-service.ts'
import type { RunEventOf } from '@tutti/protocol'
import type { WaitingReview } from '@tutti/protocol/internal'

/** A request as the run that it would begin. */
export type RepeatableRun = ModelRun & Pick<BeginRequest, 'threadId'>

/** Key of the request digest in a run's memo. */
const MEMO = 'requestDigest'

/** Returns the memo by which a later request can show that it repeats this one. */
export function toRequestMemo(run: RepeatableRun): Readonly<Record<string, unknown>> {
  return { [MEMO]: toDigest(run) }
}

/** Whether a request repeats the request that began a run. */
export function isRepeated({ request }: RunRecord, run: RepeatableRun): boolean {
  return request?.memo?.[MEMO] === toDigest(run)
}

function toDigest({ ensemble, ...run }: RepeatableRun): string {
  return hash('sha256', formatCanonicalJson({ ...run, ensemble: ensemble.name }))
}

/** Decision of a review, as the log has it. */
export type RecordedDecision = RunEventOf<'review_decided'>

/** One message or item of a conversation. A message with several calls has one entry for each. */
export type SentEntry = {
  /** Index of the message. */
  readonly index: number
} & (
  | {
      /** `message` of a user or the system, or `text` of a model. */
      readonly kind: 'message' | 'text'
    }
  | {
      readonly kind: 'call'
      readonly reviewId: string
      /** Whether the call, which is of a client tool, has this name and these arguments. */
      isSame(review: WaitingReview): boolean
    }
  | {
      readonly kind: 'result'
      readonly reviewId: string
      /** Whether it is the result of a client tool, or the decision of another review. */
      readonly isOfTool: boolean
      isSame(decision: RecordedDecision): boolean
    }
)

/** A conversation that may repeat one. */
export interface SentConversation {
  readonly entries: readonly SentEntry[]
  /** Returns the run that the messages before an index would begin. */
  toRun(end: number): RepeatableRun
  /** Whether the caller may continue a run. */
  mayContinue(run: RunRecord): boolean
}

/** Relation of a request to the run for whose calls it has results. */
export type Continuation =
  | { readonly kind: 'none' }
  /** The request continues the run. */
  | {
      readonly kind: 'continues'
      readonly run: RunRecord
      /** Ids of the open reviews. */
      readonly open: ReadonlySet<string>
    }
  /** The request is another one, with results for which the run waits. The run must be withdrawn. */
  | { readonly kind: 'replaces'; readonly run: RunRecord }

const NONE: Continuation = { kind: 'none' }

/** Compares a request with the run whose call it answers last. */
export async function findContinuation(
  { options }: GatewayService,
  sent: SentConversation,
): Promise<Continuation> {
  const last = sent.entries.findLast((entry) => entry.kind === 'result')
  if (last?.kind !== 'result') return NONE
  const review = await options.runs.reviews.get(last.reviewId)
  const run = review === undefined ? undefined : await options.runs.record(review.runId)
  if (run === undefined || !sharedEnsembles(options).some(({ name }) => name === run.ensemble)) {
    return NONE
  }
  if (!sent.mayContinue(run)) return NONE
  const calls = await readCalls(options.runs, run.runId)
  const open = new Set([...calls].flatMap(([id, call]) => (isOpen(call) ? [id] : [])))
  const hasResult = sent.entries.some(
    (entry) => entry.kind === 'result' && open.has(entry.reviewId),
  )
  const canDecide = !isTerminalRunStatus(run.status)
  if ((canDecide || !hasResult) && repeatsRun(sent, run, calls)) {
    return { kind: 'continues', run, open }
  }
  return hasResult && canDecide ? { kind: 'replaces', run } : NONE
}

/** Cancels the run that a request replaces, after the other run has begun. */
export async function withdrawReplaced(
  service: GatewayService,
  call: GatewayCall,
  found: Continuation,
): Promise<void> {
  if (found.kind !== 'replaces') return
  const { runId } = found.run
  service.options.logger.info('Cancelling a run whose client sent its results in another request', {
    runId,
  })
  await service.cancelAbandoned(call, runId, { isExplicit: true })
}

/** Review of a run, and how it was closed. */
interface RunCall {
  readonly review: WaitingReview
  decision?: RecordedDecision
  hasLapsed: boolean
}

function isOpen({ decision, hasLapsed }: RunCall): boolean {
  return decision === undefined && !hasLapsed
}

/** Reads the reviews of a run, oldest first. */
async function readCalls(
  runs: Pick<RunService, 'readEvents'>,
  runId: string,
): Promise<ReadonlyMap<string, RunCall>> {
  const calls = new Map<string, RunCall>()
  for await (const page of eventPages(runs, { runId, from: 0 })) {
    for (const event of page) {
      if (event.type === 'review_requested') {
        calls.set(event.reviewId, { review: event, hasLapsed: false })
      }
      const call = 'reviewId' in event ? calls.get(event.reviewId ?? '') : undefined
      if (call === undefined) continue
      if (event.type === 'review_decided') call.decision = event
      if (event.type === 'review_timed_out' || event.type === 'review_withdrawn') {
        call.hasLapsed = true
      }
    }
  }
  return calls
}

function repeatsRun(
  { entries, toRun }: SentConversation,
  run: RunRecord,
  calls: ReadonlyMap<string, RunCall>,
): boolean {
  let first = entries.findIndex((entry) => 'reviewId' in entry && calls.has(entry.reviewId))
  const { index = 0 } = entries[first] ?? {}
  first = entries.findIndex((entry) => entry.index === index)
  const own = entries.slice(first)
  if (!own.every((entry) => isOwnEntry(entry, calls))) return false
  const answered = new Set(own.flatMap((entry) => (entry.kind === 'result' ? entry.reviewId : [])))
  if (hasGap(answered, calls)) return false
  // The text that the run wrote before its first call.
  while (entries[first - 1]?.kind === 'text') first -= 1
  return isRepeated(run, toRun(entries[first]?.index ?? 0))
}

/** Whether an entry is of the run: its text, one of its calls, or a result that is recorded or can be. */
function isOwnEntry(entry: SentEntry, calls: ReadonlyMap<string, RunCall>): boolean {
  if (!('reviewId' in entry)) return entry.kind === 'text'
  const call = calls.get(entry.reviewId)
  if (call === undefined) return false
  if (entry.kind === 'call') return entry.isSame(call.review)
  if ((call.review.kind === 'CLIENT_TOOL') !== entry.isOfTool) return false
  return call.decision === undefined ? !call.hasLapsed : entry.isSame(call.decision)
}

/** Whether an earlier call of the run has a result that the conversation lacks. */
function hasGap(answered: ReadonlySet<string>, calls: ReadonlyMap<string, RunCall>): boolean {
  const ids = [...calls.keys()]
  const newest = ids.findLastIndex((id) => answered.has(id))
  return ids.slice(0, newest).some((id) => !answered.has(id) && isAnsweredByClient(calls.get(id)))
}

function isAnsweredByClient(call: RunCall | undefined): boolean {
  return call?.review.kind === 'CLIENT_TOOL' && call.decision !== undefined
}

/** Returns the text that a client sent as the result of a call; the event has it as JSON. */
export function toTypedText(revisedOutput: string): string {
  try {
    const value: unknown = JSON.parse(revisedOutput)
    return typeof value === 'string' ? value : revisedOutput
  } catch {
    return revisedOutput
  }
}

/** Whether a recorded decision is this result of a client tool. */
export function isSameResult({ revisedOutput }: RecordedDecision, text: string): boolean {
  return revisedOutput !== undefined && toTypedText(revisedOutput) === text
}

/** Whether a call has this name and these arguments, a text that should be JSON. */
export function isSameCall(
  { toolName = '', toolInput }: WaitingReview,
  sent: { readonly name: string; readonly arguments: string },
): boolean {
  if (sent.name !== toolName) return false
  const own = JSON.stringify(toolInput ?? {})
  if (sent.arguments === own) return true
  try {
    return formatCanonicalJson(JSON.parse(sent.arguments)) === formatCanonicalJson(toolInput ?? {})
  } catch {
    return false
  }
}
