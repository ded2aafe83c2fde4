/** Puts the routes into a Hono app: guard, route, error, each in one place. */
import { ERROR_CODES } from '@tutti/protocol'
import { Hono, type Context } from 'hono'

import { requestGuard, type RequestHeaders } from './http/guard-request.ts'
import { toResponse, wireErrorOf } from './http/on-error.ts'
import { runEventsRoute } from './routes/run-events.ts'
import { runRoutes } from './routes/runs.ts'
import { capabilitiesRoute, healthRoutes, type ServerFacts } from './routes/server.ts'
import { steeringRoutes } from './routes/steering.ts'
import { welcomeRoute } from './routes/welcome.ts'

import type { ResolvedControlApiOptions } from './options.ts'
import type { Route } from './routes/route.ts'

/** Paths that probes may ask without a key. */
const PUBLIC_PATHS: readonly string[] = ['/api/health/live', '/api/health/ready']

/** The HTTP side of the control API. */
export function createApp(options: ResolvedControlApiOptions, facts: ServerFacts): Hono {
  const app = new Hono()
  const guard = requestGuard(options)
  app.use(async (context, next) => {
    const access = PUBLIC_PATHS.includes(context.req.path) ? 'public' : 'keyed'
    guard(headersOf(context), access)
    await next()
  })
  const routes = [
    ...(options.surface === 'all' ? controlRoutes(options) : []),
    ...healthRoutes(options, facts),
  ]
  for (const route of routes) {
    app.on(route.method, honoPath(route.path), (context) =>
      route.handle({ request: context.req.raw, parameters: context.req.param() }),
    )
  }
  refuseOtherMethods(app, routes)
  app.notFound((context) => {
    const message = `There is nothing at ${context.req.method} ${context.req.path}${hint(options, routes)}`
    const { status } = ERROR_CODES.NOT_FOUND
    return toResponse({ status, body: { error: 'NOT_FOUND', message } })
  })
  app.onError((error) => toResponse(wireErrorOf(error, options.logger)))
  return app
}

function controlRoutes(options: ResolvedControlApiOptions): readonly Route[] {
  return [
    welcomeRoute(options),
    ...runRoutes(options),
    ...steeringRoutes(options),
    runEventsRoute(options),
    capabilitiesRoute(options),
  ]
}

/** What somebody should know who asks a process for something that it does not serve. */
function hint({ surface }: ResolvedControlApiOptions, routes: readonly Route[]): string {
  if (surface === 'all') return ''
  const served = routes.map(({ path }) => path).join(', ')
  return `: this process is a worker, which executes runs and serves only ${served}`
}

function headersOf(context: Context): RequestHeaders {
  return {
    host: context.req.header('host'),
    origin: context.req.header('origin'),
    authorization: context.req.header('authorization'),
  }
}

/** Known paths answer any other method with the list of those they take. */
function refuseOtherMethods(app: Hono, routes: readonly Route[]): void {
  const methods = new Map<string, readonly string[]>()
  for (const { path, method } of routes) methods.set(path, [...(methods.get(path) ?? []), method])
  for (const [path, allowed] of methods) {
    const allow = (allowed.includes('GET') ? [...allowed, 'HEAD'] : allowed).join(', ')
    app.all(honoPath(path), (context) => {
      const message = `${context.req.path} takes ${allow}, got ${context.req.method}`
      const { status } = ERROR_CODES.METHOD_NOT_ALLOWED
      return toResponse({ status, body: { error: 'METHOD_NOT_ALLOWED', message } }, { allow })
    })
  }
}

/** `/api/runs/{runId}` as Hono writes it. */
function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}
