import { readFileSync } from 'node:fs'

import { describeMetrics } from '@tutti/control-api/internal'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import {
  openMeteredServer,
  KEYS,
  USAGE,
  type MeteredServer,
  type Scrape,
} from './metered-server.ts'
import { readMetrics, valueOf } from './metrics-text.ts'
import { alertsIn, panelsIn, findUses, type Use } from './promql.ts'
import { eventsOf, type Socket } from './open-server.ts'
import { webhookReceiver, type Receiver } from './webhook-receiver.ts'

const DEPLOY = new URL('../../../deploy/', import.meta.url)

/** Number of runs whose large inputs make a stalled reader exceed its limit. */
const LARGE_RUNS = 20
const LARGE = { text: 'x'.repeat(900_000) }

/** Status of each receiver: acknowledged, gone and failed. */
const HOOKS = { ok: 204, gone: 410, down: 500 } as const

describe('metrics after known work', () => {
  let api: MeteredServer
  let hooks: Readonly<Record<keyof typeof HOOKS, Receiver>>
  let scrape: Scrape
  const value = (name: string, labels: Readonly<Record<string, string>> = {}): number =>
    scrape.value(`tutti_${name}`, labels)

  beforeAll(async () => {
    hooks = {
      ok: await webhookReceiver(() => HOOKS.ok),
      gone: await webhookReceiver(() => HOOKS.gone),
      // A second attempt, which a slow machine makes before the scrape, is not counted until it is answered.
      down: await webhookReceiver((index) => (index === 0 ? HOOKS.down : 'silence')),
    }
    api = await openMeteredServer({
      limits: { parkAfterMs: 1 },
      api: { webhooks: hooks, maxBufferedBytes: 100_000, maxBodyBytes: 2_000_000 },
    })
    await using quick = api.connect()
    await quick.next('hello')
    await performWork(api, quick)
    scrape = await api.scrape()
  })

  afterAll(async () => {
    await api[Symbol.asyncDispose]()
    for (const hook of Object.values(hooks)) await hook[Symbol.asyncDispose]()
  })

  it('Metrics after known work are in the text format of Prometheus, with the described names and labels', () => {
    const described = describeMetrics()
    expect([...scrape.families.keys()]).toEqual(described.map(({ name }) => name))
    for (const { name, type, help, labels } of described) {
      expect(scrape.families.get(name)).toMatchObject({ type, help })
      if (type === 'counter') expect(name).toMatch(/_total$/)
      else expect(name).not.toMatch(/_(?:total|count|sum|bucket)$/)
      for (const sample of scrape.families.get(name)?.samples ?? []) {
        const own = Object.keys(sample.labels).filter((label) => label !== 'le')
        expect([name, own]).toEqual([name, labels])
      }
    }
  })

  it('Metrics after known work count runs by ensemble, status and code, and unfinished runs', () => {
    const ended = (ensemble: string, status: string, code = 'none') =>
      value('runs_ended_total', { ensemble, status, code })
    expect(value('runs_accepted_total', { ensemble: 'simple' })).toBe(LARGE_RUNS + 1)
    expect(ended('simple', 'COMPLETED')).toBe(LARGE_RUNS + 1)
    expect(ended('band', 'COMPLETED')).toBe(3)
    expect(ended('broken', 'FAILED', 'MODEL_FAILED')).toBe(1)
    expect(ended('flaky', 'COMPLETED')).toBe(1)
    expect(ended('limited', 'COMPLETED')).toBe(1)
    expect(ended('choir', 'COMPLETED')).toBe(1)
    expect(ended('waiting', 'CANCELLED')).toBe(1)
    expect(value('run_duration_seconds_count', { ensemble: 'band', status: 'COMPLETED' })).toBe(3)
    expect(value('run_wait_seconds_count', { ensemble: 'band' })).toBe(3)
    expect(value('runs', { status: 'WAITING_REVIEW' })).toBe(1)
    expect(value('runs', { status: 'RUNNING' })).toBe(1)
    expect(value('runs', { status: 'ACCEPTED' })).toBe(0)
    expect(value('queue_depth')).toBe(0)
    expect(value('runs_executing')).toBe(1)
    expect(value('run_releases_total', { end: 'parked' })).toBe(2)
    expect(value('run_claims_total', { kind: 'resumed' })).toBe(1)
    expect(value('run_claims_total', { kind: 'first' })).toBe(
      LARGE_RUNS + 1 + 3 + 1 + 1 + 1 + 2 + 2,
    )
    expect(value('run_claims_total', { kind: 'taken_over' })).toBe(0)
  })

  it('Metrics after known work count tasks, and models with their tokens, cost, retries and waits', () => {
    const small = { model: 'small' }
    expect(
      value('tasks_ended_total', { ensemble: 'broken', status: 'FAILED', code: 'MODEL_FAILED' }),
    ).toBe(1)
    expect(value('task_duration_seconds_count', { ensemble: 'band', status: 'COMPLETED' })).toBe(3)
    // Two turns each of three runs, of the one that fell back and of the one that waited.
    const turns = 2 * 5
    expect(value('model_calls_total', { ...small, code: 'none' })).toBe(turns)
    expect(value('model_call_duration_seconds_count', small)).toBe(turns)
    expect(value('model_tokens_total', { ...small, direction: 'input' })).toBe(
      turns * USAGE.inputTokens,
    )
    expect(value('model_tokens_total', { ...small, direction: 'output' })).toBe(
      turns * USAGE.outputTokens,
    )
    // 100 tokens at 1 dollar and 10 at 10 dollars per million, per turn.
    expect(value('model_cost_usd_total', small)).toBeCloseTo(turns * 0.0002, 9)
    expect(value('model_unpriced_calls_total', small)).toBe(0)
    // The first turn of each run calls tools and has no text.
    expect(value('model_time_to_first_token_seconds_count', small)).toBe(turns / 2)
    const down = { model: 'scripted:down' }
    expect(value('model_calls_total', { ...down, code: 'MODEL_FAILED' })).toBe(2)
    expect(value('model_fallbacks_total', down)).toBe(1)
    expect(value('rate_limit_wait_seconds_count')).toBe(1)
  })

  it('Metrics after known work count tool calls by outcome and caller, and the counters of tools', () => {
    const calls = (tool: string, outcome: string, by: string) =>
      value('tool_calls_total', { tool, outcome, by })
    expect(calls('add', 'success', 'agent')).toBe(2 * 5)
    expect(calls('add', 'success', 'hand')).toBe(1)
    expect(calls('break_down', 'error', 'agent')).toBe(5)
    expect(value('tool_call_duration_seconds_count', { tool: 'add' })).toBe(11)
    expect(value('tool_counter_total', { tool: 'add', name: 'sums' })).toBe(22)
    expect(value('tool_value_sum', { tool: 'add', name: 'sum' })).toBe(55)
    expect(value('tool_value_count', { tool: 'add', name: 'sum' })).toBe(11)
  })

  it('Metrics after known work count reviews, also one that is decided while its run is unowned', () => {
    expect(value('gates_opened_total', { timing: 'AFTER_EXECUTION' })).toBe(2)
    expect(value('gates_closed_total', { outcome: 'continue' })).toBe(1)
    expect(value('gate_wait_seconds_count', { outcome: 'continue' })).toBe(1)
    expect(value('gates_pending')).toBe(1)
  })

  it('Metrics after known work count deliveries to webhooks, and pending ones', () => {
    const attempts = (webhook: string, outcome: string) =>
      value('webhook_attempts_total', { webhook, outcome })
    expect(attempts('ok', 'done')).toBe(1)
    expect(attempts('gone', 'given_up')).toBe(1)
    expect(attempts('down', 'retry')).toBe(1)
    expect(value('webhook_backlog')).toBe(1)
  })

  it('Metrics after known work count readers, the messages sent to them, and the one that was too slow', () => {
    expect(value('readers', { transport: 'websocket' })).toBe(1)
    expect(value('readers', { transport: 'sse' })).toBe(0)
    expect(value('reader_drops_total', { transport: 'websocket' })).toBe(1)
    expect(value('websocket_messages_received_total', { type: 'ping' })).toBe(2)
    expect(value('websocket_messages_received_total', { type: 'malformed' })).toBe(1)
    expect(value('websocket_messages_sent_total')).toBeGreaterThan(LARGE_RUNS)
    expect(value('event_reader_lag_seconds_count', { transport: 'websocket' })).toBeGreaterThan(0)
    expect(value('event_reader_lag_seconds_count', { transport: 'sse' })).toBeGreaterThan(0)
  })

  it('[API-C1] Metrics after known work count every written event once, and how it was written', async () => {
    const { runs } = await api.runs.list({ limit: 1_000, offset: 0 })
    const events = runs.reduce((sum, { lastSeq }) => sum + lastSeq + 1, 0)
    expect(value('events_written_total')).toBe(events)
    // The first event of a run is written with the run, and the decision of an unowned run separately.
    expect(value('commit_events_sum')).toBe(events - runs.length - 1)
    expect(value('store_operation_duration_seconds_count', { operation: 'runs.create' })).toBe(
      // One was refused.
      runs.length + 1,
    )
    expect(value('event_durable_lag_seconds_count')).toBeGreaterThan(runs.length)
    expect(value('store_available')).toBe(1)
    expect(scrape.families.get('tutti_store_errors_total')?.samples).toEqual([])
  })

  it('Metrics after known work count requests by route and status, and refusals by reason', () => {
    const requests = Object.fromEntries(
      (scrape.families.get('tutti_http_requests_total')?.samples ?? []).map(
        ({ labels: { route, status }, value: count }) => [`${route} ${status}`, count],
      ),
    )
    const asked = new Map(api.asked)
    // This request was not complete when it was counted.
    asked.set('getMetrics 200', (asked.get('getMetrics 200') ?? 0) - 1)
    expect(requests).toEqual({ ...Object.fromEntries(asked), 'openSocket 101': 2 })
    expect(value('errors_answered_total', { code: 'UNAUTHORIZED' })).toBe(1)
    expect(value('errors_answered_total', { code: 'FORBIDDEN' })).toBe(1)
    expect(value('errors_answered_total', { code: 'RATE_LIMITED' })).toBe(1)
    expect(value('errors_answered_total', { code: 'BAD_REQUEST' })).toBe(1)
    expect(value('too_many_total', { reason: 'requests_of_key' })).toBe(1)
    expect(value('too_many_total', { reason: 'unfinished_runs_of_key' })).toBe(1)
  })

  it('Metrics after known work describe the process and its resources', () => {
    expect(
      value('build_info', { version: '1.2.3', node_version: process.versions.node, role: 'all' }),
    ).toBe(1)
    expect(scrape.value('process_resident_memory_bytes')).toBeGreaterThan(10_000_000)
    const used = process.cpuUsage()
    expect(scrape.value('process_cpu_seconds_total')).toBeGreaterThan(0)
    expect(scrape.value('process_cpu_seconds_total')).toBeLessThanOrEqual(
      (used.user + used.system) / 1e6,
    )
    expect(scrape.value('process_start_time_seconds')).toBeLessThan(Date.now() / 1_000)
    expect(scrape.value('nodejs_eventloop_busy_seconds_total')).toBeGreaterThan(0)
    expect(scrape.value('nodejs_eventloop_lag_seconds', { quantile: '1' })).toBeGreaterThanOrEqual(
      scrape.value('nodejs_eventloop_lag_seconds', { quantile: '0.5' }),
    )
  })

  it('[API-C3] Metrics after known work contain no run ids and no texts of users', async () => {
    expect(scrape.text).not.toMatch(/run-|review-|xxxx|out of tune|provider is down/)
  })

  it('Metrics after known work are OpenMetrics if the client accepts it', async () => {
    const accept = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5'
    const response = await fetch(`${api.url}/metrics`, {
      headers: { authorization: `Bearer ${KEYS.reader}`, accept },
    })
    expect(response.headers.get('content-type')).toBe(
      'application/openmetrics-text; version=1.0.0; charset=utf-8',
    )
    const families = readMetrics(await response.text(), 'openmetrics')
    const labels = { ensemble: 'band', status: 'COMPLETED', code: 'none' }
    expect(families.get('tutti_runs_ended')?.type).toBe('counter')
    expect(
      families
        .get('tutti_runs_ended')
        ?.samples.find((sample) => JSON.stringify(sample.labels) === JSON.stringify(labels)),
    ).toMatchObject({ name: 'tutti_runs_ended_total', value: 3 })
    expect(valueOf(families, 'tutti_gates_pending')).toBe(1)
  })

  describe('the metrics of the dashboard and the alerts exist', () => {
    const checked = (what: string, uses: readonly Use[]): void => {
      for (const { metric, labels } of uses) {
        const family =
          scrape.families.get(metric) ??
          scrape.families.get(metric.replace(/_(?:bucket|sum|count)$/, ''))
        expect(family, `${what} asks for ${metric}`).toBeDefined()
        const known = describeMetrics().find(({ name }) => name === family?.name)
        const isBucket = metric.endsWith('_bucket')
        const allowed = [...(known?.labels ?? []), ...(isBucket ? ['le'] : []), 'instance', 'job']
        for (const label of labels) expect(allowed, `${what}: ${metric}`).toContain(label)
        expect(family?.type === 'histogram', `${what}: ${metric}`).toBe(family?.name !== metric)
      }
    }

    it('The metrics of the dashboard exist in every panel', () => {
      const dashboard: unknown = JSON.parse(
        readFileSync(new URL('grafana/tutti.json', DEPLOY), 'utf8'),
      )
      const panels = panelsIn(dashboard)
      expect(panels.length).toBeGreaterThan(30)
      for (const { title, expressions } of panels) {
        expect(expressions.length, title).toBeGreaterThan(0)
        for (const expression of expressions) {
          const uses = findUses(expression)
          expect(uses.length, `${title}: ${expression}`).toBeGreaterThan(0)
          checked(title, uses)
        }
      }
    })

    it('The metrics of every alert exist, each alert with instructions', () => {
      const alerts = alertsIn(readFileSync(new URL('prometheus/alerts.yml', DEPLOY), 'utf8'))
      expect(alerts.length).toBeGreaterThan(6)
      for (const { name, expression, summary } of alerts) {
        expect(summary, name).not.toBe('')
        const own = findUses(expression).filter(({ metric }) => metric !== 'up')
        if (name !== 'TuttiDown') expect(own.length, name).toBeGreaterThan(0)
        checked(name, own)
      }
    })

    it('Every metric is shown or documented', () => {
      const page = readFileSync(new URL('../docs/reference/metrics.md', DEPLOY), 'utf8')
      for (const { name } of describeMetrics()) expect(page).toContain(`\`${name}\``)
    })
  })
})

describe('the route of the metrics', () => {
  it('The route of the metrics exists in a process that only executes runs, and requires a key with runs:read', async () => {
    await using api = await openMeteredServer({ api: { surface: 'health' } })
    expect((await api.scrape()).value('tutti_store_available')).toBe(1)
    expect((await fetch(`${api.url}/metrics`)).status).toBe(401)
    const single = await fetch(`${api.url}/metrics`, {
      headers: { authorization: `Bearer ${KEYS.single}` },
    })
    expect(single.status).toBe(403)
  })
})

/** Performs work with known numbers. */
async function performWork(api: MeteredServer, quick: Socket): Promise<void> {
  await dropSlowReader(api)
  for (const ensemble of ['band', 'band', 'band', 'broken', 'flaky', 'limited']) {
    await api.ended(await api.submit(ensemble))
  }
  await api.ended(await api.submit('simple', { webhooks: Object.keys(HOOKS) }))
  const first = await api.submit('choir')
  await api.submit('choir')
  await until(api, 'tutti_run_releases_total', { end: 'parked' }, 2)
  const [review] = await api.runs.reviews.open({ runId: first })
  const path = `/api/reviews/${review?.reviewId}`
  await api.ask('decideReview', 200, { path, json: { decision: 'CONTINUE' } })
  await api.ended(first)
  const held = await api.submit('waiting')
  const stream = await api.ask('streamRunEvents', 200, { path: `/api/runs/${held}/events` })
  await api.ask('cancelRun', 200, { path: `/api/runs/${held}/cancel`, json: {} })
  await eventsOf(stream)
  await provokeRefusals(api)
  const json = { input: { a: 2, b: 3 } }
  await api.ask('invokeTool', 200, { path: '/api/tools/add/invoke', json })
  quick.send({ type: 'ping' })
  quick.send('no message')
  quick.send({ type: 'ping' })
  await quick.next('error')
  await until(api, 'tutti_websocket_messages_received_total', { type: 'ping' }, 2)
  await until(api, 'tutti_webhook_attempts_total', { webhook: 'down', outcome: 'retry' }, 1)
  await until(api, 'tutti_gate_wait_seconds_count', { outcome: 'continue' }, 1)
  await until(api, 'tutti_run_releases_total', { end: 'ended' }, LARGE_RUNS + 9)
}

/** Opens a WebSocket that does not read until it is closed. */
async function dropSlowReader(api: MeteredServer): Promise<void> {
  await using slow = api.connect()
  await slow.next('hello')
  const closed = slow.closed()
  slow.socket.pause()
  for (let index = 0; index < LARGE_RUNS; index += 1) {
    const runId = await api.submit('simple', { inputs: LARGE })
    await api.ended(runId)
  }
  slow.socket.resume()
  await closed
}

async function provokeRefusals(api: MeteredServer): Promise<void> {
  await api.ask('listRuns', 401, { path: '/api/runs', key: null })
  await api.ask('submitRun', 403, { path: '/api/runs', key: KEYS.reader, json: {} })
  await api.ask('listRuns', 200, { path: '/api/runs?limit=1', key: KEYS.hasty })
  await api.ask('listRuns', 429, { path: '/api/runs?limit=1', key: KEYS.hasty })
  await api.ask('none', 404, { path: '/nowhere' })
  const json = { ensemble: 'waiting' }
  await api.ask('submitRun', 202, { path: '/api/runs', key: KEYS.single, json })
  await api.ask('submitRun', 429, { path: '/api/runs', key: KEYS.single, json })
}

/** Resolves when a series has a value; each check is a request. */
async function until(
  api: MeteredServer,
  ...[name, labels, wanted]: [string, Readonly<Record<string, string>>, number]
): Promise<void> {
  let found: number
  do {
    found = (await api.scrape()).value(name, labels)
  } while (found < wanted)
  expect([name, found]).toEqual([name, wanted])
}
