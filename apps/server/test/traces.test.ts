/** Tests the traces of server processes: over two servers, over kill -9, over a review, and without a collector. */
import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

import { startCollector, type SentSpan } from '../../../packages/telemetry/test/collector.ts'
import { expectWholeTrace, spanNamed } from '../../../packages/telemetry/test/span-tree.ts'
import { recordSteps, readEvents, POLLING, submit, untilReviewed } from './recorded-steps.ts'
import { ServerProcess, temporaryDirectory } from './server-process.ts'

const LIMIT_MS = 60_000

const TRACED = fileURLToPath(new URL('./fixtures/traced.config.ts', import.meta.url))

const CALLER = 'b7ad6b7169203331'
const TRACE = '0af7651916cd43dd8448eb211c80319c'

const SECRET = 'collector-key-4711'

/** Variables that make a server send its traces at once. */
function sendingTo(endpoint: string): Record<string, string> {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: `x-collector-key=${SECRET}`,
    OTEL_SERVICE_NAME: 'crew',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_BSP_SCHEDULE_DELAY: '50',
  }
}

function hasRun(name: string): (spans: readonly SentSpan[]) => boolean {
  return (spans) => spans.some((span) => span.name === `invoke_workflow ${name}`)
}

/** Fails the process when it loads a file that contains a text found only in the source of the SDK. */
const HOOK = `import { registerHooks } from 'node:module'
  registerHooks({ load(url, context, next) {
    const loaded = next(url, context)
    if (/reached, dropping spans/.test(String(loaded.source))) throw new Error('Loaded the SDK')
    return loaded
  } })`

const HOOKED = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(HOOK)}` }

describe('traces', { timeout: LIMIT_MS }, () => {
  it('Traces are not created by default, without loading OpenTelemetry', async () => {
    using files = recordSteps()
    await using server = await files.start({ ...HOOKED })
    const events = await readEvents(server, await submit(server))
    expect(events.at(-1)).toMatchObject({ status: 'COMPLETED' })
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }
    const data = { TUTTI_DATA_DIR: 'other' }
    const { errors } = await files.refused({ ...HOOKED, ...endpoint, ...data })
    expect(errors).toContain('Loaded the SDK')
  })

  it('Traces are complete over kill -9, and over a review of an unowned run', async () => {
    await using collector = await startCollector()
    using files = recordSteps()
    files.hold(2)
    const first = await files.start(sendingTo(collector.endpoint))
    const runId = await submit(first)
    const reviewed = await submit(first, 'panel')
    await files.untilBegun(runId, 2)
    const { reviewId } = await untilReviewed(first, reviewed)
    await first.end('SIGKILL')
    files.release(2)
    await using second = await files.start(sendingTo(collector.endpoint))
    await second.client().reviews.decide(reviewId, { decision: 'CONTINUE' })
    const events = await readEvents(second, runId)
    await readEvents(second, reviewed)
    await collector.until((spans) => hasRun('crew')(spans) && hasRun('panel')(spans))
    expect(await second.end('SIGTERM')).toBe(0)
    const of = (id: string): readonly SentSpan[] =>
      collector.spans.filter(({ attributes }) => attributes['tutti.run.id'] === id)
    expectWholeTrace(of(runId))
    const run = spanNamed(of(runId), 'invoke_workflow crew')
    const [queued] = events
    expect(run.startMs).toBe(queued?.type === 'run_queued' ? Date.parse(queued.queuedAt) : 0)
    expect(run.events.map(({ name }) => name)).toContain('tutti.run.resumed')
    expect(run.attributes).toMatchObject({ 'tutti.run.status': 'COMPLETED', 'tutti.seq.first': 0 })
    expect(run.resource).toMatchObject({
      'service.name': 'crew',
      'deployment.environment.name': 'test',
      'tutti.role': 'all',
    })
    const review = of(reviewed).find(({ name }) => name.startsWith('review'))
    expect(review?.attributes['tutti.review.decision']).toBe('CONTINUE')
    expect(collector.headers[0]).toMatchObject({ 'x-collector-key': SECRET })
  })

  it('Traces span two servers and their caller', async () => {
    await using collector = await startCollector()
    using data = temporaryDirectory()
    const variables = { ...sendingTo(collector.endpoint), TUTTI_CONFIG: TRACED }
    await using back = await ServerProcess.start({
      ...variables,
      TUTTI_DATA_DIR: `${data.path}/back`,
      OTEL_SERVICE_NAME: 'back',
    })
    await using front = await ServerProcess.start({
      ...variables,
      TUTTI_DATA_DIR: `${data.path}/front`,
      // Longer than the test, so that only a stop sends traces.
      OTEL_BSP_SCHEDULE_DELAY: '600000',
      PEER_URL: back.url,
    })
    const response = await fetch(`${front.url}/api/runs?wait=30`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        traceparent: `00-${TRACE}-${CALLER}-01`,
        tracestate: 'vendor=1',
      },
      body: JSON.stringify({ inputs: { input: 'gold' } }),
    })
    expect(await response.json()).toMatchObject({ status: 'COMPLETED' })
    expect(collector.spans.filter(({ resource }) => resource['service.name'] === 'crew')).toEqual(
      [],
    )
    expect(await front.end('SIGTERM')).toBe(0)
    await collector.until((spans) => hasRun('front')(spans) && hasRun('back')(spans))
    const { spans } = collector
    const call = spanNamed(spans, 'execute_tool ask')
    const above = spanNamed(spans, 'invoke_workflow front')
    const below = spanNamed(spans, 'invoke_workflow back')
    expect(spans.map(({ traceId }) => traceId)).toEqual(spans.map(() => TRACE))
    expect(above).toMatchObject({ parentSpanId: CALLER, traceState: 'vendor=1' })
    expect(below.parentSpanId).toBe(call.spanId)
    expect(below.resource['service.name']).toBe('back')
    expect(spanNamed(spans, 'execute_tool look').resource['service.name']).toBe('back')
    expectWholeTrace(
      spans.filter(({ resource }) => resource['service.name'] === 'crew'),
      CALLER,
    )
  })

  it('Traces cause one warning, and affect neither runs nor a stop, when the collector is unreachable', async () => {
    using files = recordSteps()
    await using server = await files.start({
      ...sendingTo('http://127.0.0.1:1'),
      OTEL_EXPORTER_OTLP_TIMEOUT: '100',
    })
    for (let count = 0; count < 3; count += 1) {
      expect((await readEvents(server, await submit(server))).at(-1)).toMatchObject({
        status: 'COMPLETED',
      })
      await expect.poll(() => server.errors, POLLING).toContain('Traces are lost')
    }
    expect(await server.end('SIGTERM')).toBe(0)
    const lines = server.errors.split('\n').filter((line) => line.includes('Traces are lost'))
    expect(lines).toHaveLength(1)
    expect(server.errors).not.toContain(SECRET)
  })
})
