/** Failures of tracing never affect a run. */
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { expect, it } from 'vitest'

import { traceRuns } from '../src/index.ts'
import { keepIn } from './readable.ts'

import type { SentSpan } from './collector.ts'

const team = ensemble({
  name: 'one',
  tasks: [task({ description: 'Go' })],
  model: scriptedModel(() => 'Done'),
})

it('A processor that throws loses only its spans', async () => {
  const errors: unknown[] = []
  const broken = new Error('broken')
  const tracing = traceRuns({
    processor: {
      ...keepIn([]),
      onEnd: () => {
        throw broken
      },
    },
    onError: (error) => errors.push(error),
  })
  const { status } = await team.run({}, tracing.run())
  expect(status).toBe('COMPLETED')
  expect(errors).toEqual([broken, broken, broken])
})

it('A text that cannot be redacted loses the spans of its run, and is reported once', async () => {
  const errors: unknown[] = []
  const spans: SentSpan[] = []
  const tracing = traceRuns({
    processor: keepIn(spans),
    captureContent: true,
    redact: () => {
      throw new Error('broken')
    },
    onError: (error) => errors.push(error),
  })
  expect((await team.run({}, tracing.run())).status).toBe('COMPLETED')
  expect(errors).toHaveLength(1)
})

it('A log that cannot be read loses the spans of its run', async () => {
  const errors: unknown[] = []
  const spans: SentSpan[] = []
  const tracing = traceRuns({ processor: keepIn(spans), onError: (error) => errors.push(error) })
  const gone = new Error('gone')
  const service = tracing.service(() => Promise.reject(gone))
  const { traceparent, onEvent, runId } = tracing.run()
  const run = { runId, lastSeq: 0, request: { traceparent } }
  service.onActivity({ kind: 'claimed', lostOwners: 0, run })
  service.onExecuted(runId, [])
  await tracing.flush()
  expect(errors).toEqual([gone])
  service.onActivity({ kind: 'released', runId })
  onEvent({ type: 'review_timed_out', reviewId: 'none', action: 'CONTINUE' })
  expect(spans).toEqual([])
})

it('A run that is claimed again by the same process is traced from its new claim', async () => {
  const spans: SentSpan[] = []
  const tracing = traceRuns({ processor: keepIn(spans) })
  const reads: number[] = []
  const service = tracing.service(({ from }) => {
    reads.push(from)
    return Promise.resolve([])
  })
  const { traceparent, runId } = tracing.run()
  const claimed = {
    kind: 'claimed',
    lostOwners: 0,
    run: { runId, lastSeq: 0, request: { traceparent } },
  }
  service.onActivity(claimed)
  service.onActivity(claimed)
  // The release of the first claim is reported after the second claim.
  service.onActivity({ kind: 'released', runId })
  await tracing.flush()
  const at = { runId, tags: {}, inputs: {}, workflow: 'SEQUENTIAL' } as const
  const queued = {
    ...at,
    type: 'run_queued',
    queuedAt: '2030-01-01T00:00:00Z',
    ensemble: 'x',
    totalTasks: 0,
  } as const
  service.onExecuted(runId, [
    { ...queued, seq: 0, id: '0' },
    {
      type: 'run_result',
      runId,
      status: 'COMPLETED',
      outputs: [],
      durationMs: 0,
      seq: 1,
      id: '1',
    },
  ])
  expect(spans.map(({ name }) => name)).toEqual(['invoke_workflow x'])
  expect(reads).toEqual([0, 0])
  service.onActivity({ kind: 'released', runId })
  service.onExecuted(runId, [{ ...queued, seq: 0, id: '0' }])
  expect(spans).toHaveLength(1)
})

it('A run without a trace, or with an unrecorded one, is not traced', async () => {
  const spans: SentSpan[] = []
  const tracing = traceRuns({ processor: keepIn(spans) })
  const service = tracing.service(() => Promise.reject(new Error('not asked')))
  const unrecorded = tracing.run().traceparent.replace(/01$/, '00')
  for (const request of [undefined, {}, { traceparent: unrecorded }]) {
    const run = { runId: 'run-1', lastSeq: 0, ...(request === undefined ? {} : { request }) }
    service.onActivity({ kind: 'claimed', lostOwners: 0, run })
  }
  await tracing.flush()
  expect(spans).toEqual([])
})

it('A sampler that throws loses the spans of its run', async () => {
  const errors: unknown[] = []
  const spans: SentSpan[] = []
  const broken = new Error('broken')
  const tracing = traceRuns({
    processor: keepIn(spans),
    sampler: {
      shouldSample: () => {
        throw broken
      },
      toString: () => 'broken',
    },
    onError: (error) => errors.push(error),
  })
  expect((await team.run({}, tracing.run())).status).toBe('COMPLETED')
  const asked = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }
  const { traceNewRun } = tracing.service(() => Promise.resolve([]))
  expect(traceNewRun({ runId: 'run-1', ensemble: 'one' }, asked)).toEqual(asked)
  expect(errors).toEqual([broken, broken])
  expect(spans).toEqual([])
})
