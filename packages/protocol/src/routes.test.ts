import { describe, expect, it } from 'vitest'
import type { Scope } from './schemas/enums.ts'
import { COMMON_ERRORS, type Route, routePath, ROUTES } from './routes.ts'

/** Pinned: every client depends on the paths. */
const TABLE = [
  'getStatus: GET /api/status 200',
  'getLiveness: GET /api/health/live 200',
  'getReadiness: GET /api/health/ready 200',
  'getMetrics: GET /metrics 200',
  'drain: POST /api/lifecycle/drain 200',
  'listWorkspaceFiles: GET /api/workspace/files 200',
  'readWorkspaceFile: GET /api/workspace/file 200',
  'submitRun: POST /api/runs 202',
  'listRuns: GET /api/runs 200',
  'compareRuns: GET /api/runs/compare 200',
  'getRun: GET /api/runs/{runId} 200',
  'deleteRun: DELETE /api/runs/{runId} 204',
  'createThread: POST /api/threads 201',
  'listThreads: GET /api/threads 200',
  'getThread: GET /api/threads/{threadId} 200',
  'deleteThread: DELETE /api/threads/{threadId} 204',
  'listThreadRuns: GET /api/threads/{threadId}/runs 200',
  'createSchedule: POST /api/schedules 201',
  'listSchedules: GET /api/schedules 200',
  'getSchedule: GET /api/schedules/{name} 200',
  'replaceSchedule: POST /api/schedules/{name} 200',
  'deleteSchedule: DELETE /api/schedules/{name} 204',
  'pauseSchedule: POST /api/schedules/{name}/pause 200',
  'resumeSchedule: POST /api/schedules/{name}/resume 200',
  'runSchedule: POST /api/schedules/{name}/run 202',
  'injectDirective: POST /api/runs/{runId}/inject 200',
  'switchModel: POST /api/runs/{runId}/model 200',
  'cancelRun: POST /api/runs/{runId}/cancel 200',
  'decideReview: POST /api/reviews/{reviewId} 200',
  'cancelRuns: POST /api/runs/cancel 200',
  'forkRun: POST /api/runs/{runId}/fork 202',
  'replayRun: POST /api/runs/{runId}/replay 202',
  'migrateRun: POST /api/runs/{runId}/migrate 200',
  'listBuilds: GET /api/builds 200',
  'setBuildShare: POST /api/builds/{build}/share 200',
  'getRunTrace: GET /api/runs/{runId}/trace 200',
  'getRunDag: GET /api/runs/{runId}/dag 200',
  'streamRunEvents: GET /api/runs/{runId}/events 200',
  'listReviews: GET /api/reviews 200',
  'sendEvent: POST /api/events/{name} 202',
  'createEventLink: POST /api/events/{name}/links 201',
  'sendLinkedEvent: POST /api/event-links/{token} 202',
  'getCapabilities: GET /api/capabilities 200',
  'invokeTool: POST /api/tools/{name}/invoke 200',
  'createTicket: POST /api/tickets 201',
  'getIdentity: GET /api/me 200',
  'listAudit: GET /api/audit 200',
  'getOpenApi: GET /openapi.json 200',
  'getAsyncApi: GET /asyncapi.json 200',
  'getDocs: GET /docs 200',
  'getDocsScript: GET /docs/reference.js 200',
  'openSocket: GET /ws 101',
  'openRunSocket: GET /runs/{runId}/ws 101',
  'listRunWorkspaceFiles: GET /runs/{runId}/api/workspace/files 200',
  'readRunWorkspaceFile: GET /runs/{runId}/api/workspace/file 200',
]

/** Routes by required scope; `null` for public routes. */
const SCOPES = {
  null: [
    'getLiveness',
    'getReadiness',
    'sendLinkedEvent',
    'getOpenApi',
    'getAsyncApi',
    'getDocs',
    'getDocsScript',
  ],
  'runs:read': [
    'getStatus',
    'getMetrics',
    'listWorkspaceFiles',
    'readWorkspaceFile',
    'listRuns',
    'compareRuns',
    'getRun',
    'listThreads',
    'getThread',
    'listThreadRuns',
    'listSchedules',
    'getSchedule',
    'listBuilds',
    'getRunTrace',
    'getRunDag',
    'streamRunEvents',
    'listReviews',
    'getCapabilities',
    'createTicket',
    'getIdentity',
    'openSocket',
    'openRunSocket',
    'listRunWorkspaceFiles',
    'readRunWorkspaceFile',
  ],
  'runs:write': [
    'submitRun',
    'createThread',
    'createSchedule',
    'runSchedule',
    'forkRun',
    'replayRun',
  ],
  'runs:control': [
    'deleteRun',
    'deleteThread',
    'replaceSchedule',
    'deleteSchedule',
    'pauseSchedule',
    'resumeSchedule',
    'injectDirective',
    'switchModel',
    'cancelRun',
    'cancelRuns',
    'migrateRun',
  ],
  'reviews:decide': ['decideReview'],
  'events:send': ['sendEvent', 'createEventLink'],
  'tools:invoke': ['invokeTool'],
  admin: ['drain', 'setBuildShare', 'listAudit'],
}

/** Further responses that are not errors. */
const OTHERS = [
  'getReadiness 503',
  'submitRun 200',
  'submitRun 204',
  'createThread 200',
  'forkRun 200',
  'streamRunEvents 204',
  'getOpenApi 304',
  'getAsyncApi 304',
  'getDocs 304',
  'getDocsScript 304',
]

const routes: [string, Route][] = Object.entries(ROUTES)

describe('ROUTES', () => {
  it('ROUTES is pinned', () => {
    const rows = routes.map(
      ([name, { method, path, status }]) => `${name}: ${method} ${path} ${status}`,
    )
    expect(rows).toEqual(TABLE)
  })

  it('ROUTES has each method and path once', () => {
    const addresses = routes.map(([, { method, path }]) => `${method} ${path}`)
    expect(new Set(addresses).size).toBe(addresses.length)
  })

  it('ROUTES lists no code twice, and none of the common ones', () => {
    for (const [name, { errors }] of routes) {
      expect(new Set(errors).size, name).toBe(errors.length)
      expect(errors.filter((code) => COMMON_ERRORS.some((common) => common === code))).toEqual([])
    }
  })

  it('ROUTES has a body only where the method allows one', () => {
    const withBody = routes.filter(([, route]) => route.body !== undefined)
    expect(withBody.map(([, { method }]) => method)).toEqual(withBody.map(() => 'POST'))
  })

  it('ROUTES requires the pinned scopes, and makes only routes without run data and the link of an event public', () => {
    const scopes = new Map<Scope | null, string[]>()
    for (const [name, { scope }] of routes) scopes.set(scope, [...(scopes.get(scope) ?? []), name])
    expect(Object.fromEntries(scopes)).toEqual(SCOPES)
  })

  it('ROUTES accepts a ticket exactly where a browser opens a stream, and declares it in the query', () => {
    const streams = routes.filter(
      ([, { mediaType, status }]) => mediaType === 'text/event-stream' || status === 101,
    )
    const takesTicket = routes.filter(([, route]) => route.takesTicket === true)
    expect(takesTicket).toEqual(streams)
    for (const [name, { query }] of takesTicket) {
      expect(query, name).toHaveProperty('properties.ticket')
    }
  })

  it('ROUTES has each status of a route once, and further responses only with statuses that are not errors', () => {
    for (const [name, { status, others = [] }] of routes) {
      const statuses = [status, ...others.map((other) => other.status)]
      expect(new Set(statuses).size, name).toBe(statuses.length)
    }
    const rows = routes.flatMap(([name, { others = [] }]) =>
      others.map((other) => `${name} ${other.status}`),
    )
    expect(rows).toEqual(OTHERS)
  })
})

describe('routePath', () => {
  it('routePath returns a path without parameters unchanged', () => {
    expect(routePath('listRuns')).toBe('/api/runs')
  })

  it('routePath fills in and encodes parameters', () => {
    expect(routePath('cancelRun', { runId: 'run-7f3a2b' })).toBe('/api/runs/run-7f3a2b/cancel')
    expect(routePath('invokeTool', { name: 'a/b c?#%ü' })).toBe(
      '/api/tools/a%2Fb%20c%3F%23%25%C3%BC/invoke',
    )
  })

  it('routePath ignores replacement patterns in a value', () => {
    expect(routePath('getRun', { runId: '$&' })).toBe('/api/runs/%24%26')
  })

  it.each(['', '.', '..'])('routePath rejects %j, which would change the path', (runId) => {
    expect(() => routePath('getRun', { runId })).toThrow(
      `Cannot build the path of "getRun": runId must be a path segment, got "${runId}"`,
    )
  })
})
