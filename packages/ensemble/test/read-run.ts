/** Reads open reviews, ends of tasks and model requests from a run. */
import { expect } from 'vitest'

import { eventsOf, type WatchedRun } from './watch-run.ts'

import type { ModelRequest } from '../src/adapter.ts'
import type { OpenReview } from '../src/internal.ts'
import type { RunEvent } from '@tutti/protocol'

/** Returns the only open review, of one task if several are open. */
export function findOpenReview({ handle }: WatchedRun, taskName?: string): OpenReview {
  const open = handle
    .snapshot()
    .reviews.filter((review) => taskName === undefined || review.taskName === taskName)
  expect(open).toHaveLength(1)
  const [review] = open
  if (review === undefined) throw new Error('No review is open')
  return review
}

/** Returns the events that closed reviews, in order. */
export function listClosings({ events }: WatchedRun): readonly RunEvent[] {
  return events.filter(({ type }) => type.startsWith('review_') && type !== 'review_requested')
}

/** Returns the end of each task: `completed`, `skipped`, or the code of its failure. */
export function readEnds({ events }: WatchedRun): Readonly<Record<string, string>> {
  const ends: Record<string, string> = {}
  for (const event of events) {
    if (event.type === 'task_completed') ends[event.taskName ?? ''] = 'completed'
    if (event.type === 'task_skipped') ends[event.taskName] = 'skipped'
    if (event.type === 'task_failed') ends[event.taskName ?? ''] = event.code ?? ''
  }
  return ends
}

/** Returns the labels of the models that were called, in order. */
export function listModelCalls({ events }: WatchedRun): readonly string[] {
  return eventsOf(events, 'llm_iteration_started').map(({ model }) => model ?? '')
}

/** Returns each request of a model as one text. */
export function listPrompts({
  requests,
}: {
  readonly requests: readonly ModelRequest[]
}): readonly string[] {
  return requests.map(({ messages }) => messages.map(({ content }) => content).join('\n'))
}
