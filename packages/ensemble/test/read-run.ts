/** What tests read from a run: its open reviews, its ends, what its models were asked. */
import { expect } from 'vitest'

import { eventsOf, type WatchedRun } from './watch-run.ts'

import type { OpenReview, ModelRequest } from '../src/index.ts'
import type { RunEvent } from '@tutti/protocol'

/** The one review that is open, of a task when several are. */
export function gateOf({ handle }: WatchedRun, taskName?: string): OpenReview {
  const open = handle
    .snapshot()
    .reviews.filter((review) => taskName === undefined || review.taskName === taskName)
  expect(open).toHaveLength(1)
  const [review] = open
  if (review === undefined) throw new Error('No review is open')
  return review
}

/** What came of the reviews, in the order in which they closed. */
export function closingsOf({ events }: WatchedRun): readonly RunEvent[] {
  return events.filter(({ type }) => type.startsWith('review_') && type !== 'review_requested')
}

/** What each task came to: `completed`, `skipped`, or the code of its failure. */
export function endsOf({ events }: WatchedRun): Readonly<Record<string, string>> {
  const ends: Record<string, string> = {}
  for (const event of events) {
    if (event.type === 'task_completed') ends[event.taskName ?? ''] = 'completed'
    if (event.type === 'task_skipped') ends[event.taskName] = 'skipped'
    if (event.type === 'task_failed') ends[event.taskName ?? ''] = event.code ?? ''
  }
  return ends
}

/** The models that were asked, in order, as events name them. */
export function modelsAsked({ events }: WatchedRun): readonly string[] {
  return eventsOf(events, 'llm_iteration_started').map(({ model }) => model ?? '')
}

/** Each request of a model as one text. */
export function promptsOf({
  requests,
}: {
  readonly requests: readonly ModelRequest[]
}): readonly string[] {
  return requests.map(({ messages }) => messages.map(({ content }) => content).join('\n'))
}
