/**
 * Bounds the spans of tasks that tasks add, such as one for each item of a list. No I/O.
 *
 * TEL-G1 Of the tasks that an attempt adds, the first `maxAddedTasks` have spans, up to ten times as many in a run. The
 *    others have none, nor do their calls, their reviews and the tasks that they add in turn.
 * TEL-G2 A failed attempt of a task without spans has one span, without parts, up to the same limits. A cancel is not a
 *    failure.
 * TEL-G3 The span of an attempt counts the tasks that it added. Attempts without a span count, with their usage, on the
 *    span of the nearest task that has one, so that no tokens and costs are missing in a trace.
 */
import { addAmounts } from '@tutti/protocol/internal'

import { TUTTI } from './attributes.ts'

import type { Attributes } from '@opentelemetry/api'
import type { OpenSpan } from './open-span.ts'

/** Number of adding tasks whose limits a run has in total. */
const MAX_ADDING_TASKS = 10

/** Usage of an attempt; tokens are negative when they are not known. */
export interface UntracedUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costUsd?: number | undefined
}

/** Counts on the span of an attempt. */
interface AddedCounts {
  added: number
  completed: number
  failed: number
  /** Number of failed attempts that have a span, of tasks without spans. */
  failures: number
  untraced: number
  inputTokens: number
  outputTokens: number
  costUsd: number | undefined
}

/** Decides which added tasks of one run have spans, and counts them. */
export class AddedTasks {
  readonly #maxTasks: number
  readonly #counts = new Map<OpenSpan, AddedCounts>()
  /** Name of a task without spans → the span that counts it. */
  readonly #hosts = new Map<string, OpenSpan>()
  /** Key of an attempt without a span → its start, in milliseconds since 1970. */
  readonly #starts = new Map<string, number>()
  #traced = 0
  #failures = 0

  constructor(maxTasks: number) {
    this.#maxTasks = maxTasks
  }

  /** Returns the span that counts a task without spans; undefined for other tasks. */
  findHost(taskName: string): OpenSpan | undefined {
    return this.#hosts.get(taskName)
  }

  /** Adds a task of `parent`, whose span is undefined if it has none. Returns whether the task has spans. */
  add(workerTask: string, parent: string, span: OpenSpan | undefined): boolean {
    const host = this.#hosts.get(parent) ?? span
    if (host === undefined) return true
    const counts = this.#countsOf(host)
    if (!this.#hosts.has(parent)) {
      counts.added += 1
      if (counts.added <= this.#maxTasks && this.#traced < this.#maxTasks * MAX_ADDING_TASKS) {
        this.#traced += 1
        return true
      }
    }
    counts.untraced += 1
    this.#hosts.set(workerTask, host)
    return false
  }

  /** Counts the end of a task that the attempt with a span has added. */
  end(span: OpenSpan | undefined, outcome: 'completed' | 'failed'): void {
    const counts = span && this.#counts.get(span)
    if (counts !== undefined) counts[outcome] += 1
  }

  /** Forgets a task that has ended. */
  forget(workerTask: string): void {
    this.#hosts.delete(workerTask)
  }

  /** Begins an attempt of a task without spans. */
  beginAttempt(key: string, startMs: number): void {
    if (!this.#starts.has(key)) this.#starts.set(key, startMs)
  }

  /** Returns the start of an attempt of a task without spans, and forgets it. */
  takeStart(key: string): number | undefined {
    const startMs = this.#starts.get(key)
    this.#starts.delete(key)
    return startMs
  }

  /** Whether another failed attempt counted by `host` can have a span; if so, it is counted. */
  takeFailure(host: OpenSpan): boolean {
    const counts = this.#countsOf(host)
    const max = this.#maxTasks
    if (counts.failures >= max || this.#failures >= max * MAX_ADDING_TASKS) return false
    counts.failures += 1
    this.#failures += 1
    return true
  }

  /** Adds the usage of an attempt without a span. */
  addUsage(host: OpenSpan, { inputTokens, outputTokens, costUsd }: UntracedUsage): void {
    const counts = this.#countsOf(host)
    counts.inputTokens += Math.max(0, inputTokens)
    counts.outputTokens += Math.max(0, outputTokens)
    if (costUsd !== undefined) counts.costUsd = addAmounts(counts.costUsd ?? 0, costUsd)
  }

  /** Returns the attributes with the counts of a span, and forgets them. */
  takeAttributes(span: OpenSpan): Attributes {
    const counts = this.#counts.get(span)
    if (counts === undefined) return {}
    this.#counts.delete(span)
    const { added, completed, failed, untraced, inputTokens, outputTokens, costUsd } = counts
    return {
      ...(added === 0
        ? {}
        : {
            [TUTTI.addedCount]: added,
            [TUTTI.addedCompleted]: completed,
            [TUTTI.addedFailed]: failed,
          }),
      ...(untraced === 0
        ? {}
        : {
            [TUTTI.untracedCount]: untraced,
            [TUTTI.untracedInputTokens]: inputTokens,
            [TUTTI.untracedOutputTokens]: outputTokens,
            ...(costUsd === undefined ? {} : { [TUTTI.untracedCostUsd]: costUsd }),
          }),
    }
  }

  #countsOf(span: OpenSpan): AddedCounts {
    const known = this.#counts.get(span)
    if (known !== undefined) return known
    const counts = {
      added: 0,
      completed: 0,
      failed: 0,
      failures: 0,
      untraced: 0,
      inputTokens: 0,
      outputTokens: 0,
      costUsd: undefined,
    }
    this.#counts.set(span, counts)
    return counts
  }
}
