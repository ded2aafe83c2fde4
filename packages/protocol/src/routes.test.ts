import { describe, expect, it } from 'vitest'
import { COMMON_ERRORS, type Route, routePath, ROUTES } from './routes.ts'

/** Written out and not derived: the addresses are a promise to every client. */
const TABLE = [
  'getStatus: GET /api/status 200',
  'getLiveness: GET /api/health/live 200',
  'getReadiness: GET /api/health/ready 200',
  'drain: POST /api/lifecycle/drain 200',
  'listWorkspaceFiles: GET /api/workspace/files 200',
  'readWorkspaceFile: GET /api/workspace/file 200',
  'submitRun: POST /api/runs 202',
  'listRuns: GET /api/runs 200',
  'getRun: GET /api/runs/{runId} 200',
  'deleteRun: DELETE /api/runs/{runId} 204',
  'cancelRun: POST /api/runs/{runId}/cancel 200',
  'switchModel: POST /api/runs/{runId}/model 200',
  'injectDirective: POST /api/runs/{runId}/inject 200',
  'streamRunEvents: GET /api/runs/{runId}/events 200',
  'listReviews: GET /api/reviews 200',
  'decideReview: POST /api/reviews/{reviewId} 200',
  'getCapabilities: GET /api/capabilities 200',
  'invokeTool: POST /api/tools/{name}/invoke 200',
  'openSocket: GET /ws 101',
  'openRunSocket: GET /runs/{runId}/ws 101',
  'listRunWorkspaceFiles: GET /runs/{runId}/api/workspace/files 200',
  'readRunWorkspaceFile: GET /runs/{runId}/api/workspace/file 200',
]

const routes: [string, Route][] = Object.entries(ROUTES)

describe('ROUTES', () => {
  it('is pinned', () => {
    const rows = routes.map(
      ([name, { method, path, status }]) => `${name}: ${method} ${path} ${status}`,
    )
    expect(rows).toEqual(TABLE)
  })

  it('has each method and path once', () => {
    const addresses = routes.map(([, { method, path }]) => `${method} ${path}`)
    expect(new Set(addresses).size).toBe(addresses.length)
  })

  it('lists no code twice, and none that is common to all', () => {
    for (const [name, { errors }] of routes) {
      expect(new Set(errors).size, name).toBe(errors.length)
      expect(errors.filter((code) => COMMON_ERRORS.some((common) => common === code))).toEqual([])
    }
  })

  it('takes a body only where the method has one', () => {
    const withBody = routes.filter(([, route]) => route.body !== undefined)
    expect(withBody.map(([, { method }]) => method)).toEqual(withBody.map(() => 'POST'))
  })
})

describe('routePath', () => {
  it('gives a path without parameters as it is', () => {
    expect(routePath('listRuns')).toBe('/api/runs')
  })

  it('fills and encodes parameters', () => {
    expect(routePath('cancelRun', { runId: 'run-7f3a2b' })).toBe('/api/runs/run-7f3a2b/cancel')
    expect(routePath('invokeTool', { name: 'a/b c?#%ü' })).toBe(
      '/api/tools/a%2Fb%20c%3F%23%25%C3%BC/invoke',
    )
  })

  it('does not read replacement patterns in a value', () => {
    expect(routePath('getRun', { runId: '$&' })).toBe('/api/runs/%24%26')
  })

  it.each(['', '.', '..'])('refuses %j, which would make another path', (runId) => {
    expect(() => routePath('getRun', { runId })).toThrow(
      `Cannot build the path of "getRun": runId must be a path segment, got "${runId}"`,
    )
  })
})
