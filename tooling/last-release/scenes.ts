/** Creates the runs of the fixtures: one in every state that a process may leave behind. */
import { createRunService, type RunService } from '../../packages/runs/src/index.ts'

import { createTeam } from './team.ts'

import type { LoggedRunEvent } from '@tutti/protocol'
import type { RunStorage } from '../../packages/runs/src/adapter.ts'

/** The status of each stored run when its process has closed the store. */
export const STORED = {
  completed: 'COMPLETED',
  failed: 'FAILED',
  cancelled: 'CANCELLED',
  forked: 'WAITING_REVIEW',
  reviewed: 'WAITING_REVIEW',
  interrupted: 'RUNNING',
} as const

const THREAD = 'conversation'

/** Creates the runs of {@link STORED} in a new store and closes it. Returns the logs by run. */
export async function storeScenes(
  storage: RunStorage,
): Promise<Readonly<Record<string, readonly LoggedRunEvent[]>>> {
  const team = createTeam({ waits: true })
  const service = createRunService(storage, [team.ensemble], { buildId: 'release' })
  await service.start()
  await service.threads.create({ threadId: THREAD, tags: { team: 'docs' } })
  const submit = (runId: string, topic: string) =>
    service.submit({ runId, inputs: { topic }, tags: { team: 'docs' }, threadId: THREAD })
  await submit('completed', 'tides')
  await decideReview(service, 'completed')
  await submit('failed', 'a failure')
  await readLog(service, 'failed')
  await submit('cancelled', 'ships')
  await openReview(service, 'cancelled')
  await service.send('cancelled', { kind: 'cancel' })
  await readLog(service, 'cancelled')
  await service.forks.create('completed', { runId: 'forked', at: { task: 'write' } })
  await openReview(service, 'forked')
  await submit('reviewed', 'harbors')
  await openReview(service, 'reviewed')
  await service.submit({ runId: 'interrupted', inputs: { topic: 'an interruption' } })
  await team.interrupted
  const logs: Record<string, readonly LoggedRunEvent[]> = {}
  for (const runId of Object.keys(STORED)) {
    logs[runId] = await service.readEvents({ runId, from: 0, limit: 1_000 })
  }
  await service.close({ drainTimeoutMs: 0 })
  return logs
}

/** Waits for the review of a run, approves it and waits for the end of the run. */
export async function decideReview(service: RunService, runId: string): Promise<void> {
  const reviewId = await openReview(service, runId)
  const decision = { action: 'CONTINUE', decidedBy: 'ann' } as const
  await service.send(runId, { kind: 'decide', reviewId, decision })
  await readLog(service, runId)
}

/** Waits until a run has an open review and returns its id. */
async function openReview(service: RunService, runId: string): Promise<string> {
  for await (const events of service.follow({ runId, from: 0 })) {
    for (const event of events) if (event.type === 'review_requested') return event.reviewId
  }
  throw new Error(`Run ${runId} ended without a review`)
}

/** Returns the events of a run when it has ended. */
export async function readLog(
  service: RunService,
  runId: string,
): Promise<readonly LoggedRunEvent[]> {
  const all: LoggedRunEvent[] = []
  for await (const events of service.follow({ runId, from: 0 })) all.push(...events)
  return all
}
