/**
 * Registers the routes in a Hono app.
 *
 *   site ─▶ preflight ─▶ target ─▶ route ─▶ caller ─▶ scope ─▶ media types ─▶ handler ─▶ response
 *                                                      └──── audit trail ────┘
 */
import { ERROR_CODES, ROUTES } from '@tutti/protocol'
import type { Route as RouteEntry } from '@tutti/protocol/internal'
import { Hono, type Context } from 'hono'
import {
  anyone,
  assertScope,
  audited,
  type Caller,
  gatewayRoutes,
  isAudited,
  isOpenAiPath,
  type HttpRoute,
  type RouteAnswer,
  type StreamAnswer,
  type AddSubject,
  toOpenAiResponse,
  toResponse,
  readTrace,
  reportError,
  setBodySource,
  type Signer,
  type WireError,
  writeEvents,
} from '@tutti/gateway/internal'
import { workFor, type Reservation } from '@tutti/runs/internal'

import { ALREADY_SENT } from './already-sent.ts'
import { assertAcceptable, assertNoForm } from './http/accept.ts'
import { assertTarget } from './http/assert-target.ts'
import { isPreflight, preflightHeaders } from './http/cors.ts'
import { readRequestInfo } from './http/request-info.ts'
import { admitRequest } from './http/admit-request.ts'
import { recordRequest } from './http/record-request.ts'
import { readRunDetail } from './runs/run-detail.ts'
import { accessRoutes } from './routes/access.ts'
import { dashboardFileRoutes, dashboardPageRoute } from './routes/dashboard.ts'
import { documentRoutes } from './routes/documents.ts'
import { lifecycleRoutes } from './routes/lifecycle.ts'
import { runEventsRoute } from './routes/run-events.ts'
import { runRoutes } from './routes/runs.ts'
import { capabilitiesRoute, healthRoutes, type ServerInfo } from './routes/server.ts'
import { externalEventRoutes } from './routes/external-events.ts'
import { steeringRoutes } from './routes/steering.ts'
import { scheduleRoutes } from './routes/schedules.ts'
import { threadRoutes } from './routes/threads.ts'
import { toolRoutes } from './routes/tools.ts'
import { buildRoutes } from './routes/builds.ts'
import { welcomeRoute } from './routes/welcome.ts'
import { workspaceRoutes } from './routes/workspace.ts'

import type { Dashboard } from './dashboard/read-dashboard.ts'
import type { RequestGuard } from './auth/guard-request.ts'
import type { ResolvedControlApiOptions } from './options.ts'
import type { Clock } from '@tutti/core'
import type { HttpBindings } from '@hono/node-server'

/** Parts of an app in addition to its options. */
export interface AppParts {
  readonly info: ServerInfo
  readonly guard: RequestGuard
  /** Signs tickets and MCP request states. */
  readonly signer: Signer
  /** Serves the metrics of the process. */
  readonly metrics: HttpRoute
  /** Page for browsers; without it, browsers get the same text as other clients. */
  readonly dashboard?: Dashboard | undefined
}

interface Env {
  readonly Bindings: HttpBindings
  /** Facts about a request, set while it is handled and logged with it. */
  readonly Variables: { route?: string; actor?: string; requestId?: string }
}

/** Creates the Hono app that serves the HTTP routes. */
export function createApp(
  options: ResolvedControlApiOptions,
  { info, guard, signer, metrics, dashboard }: AppParts,
): Hono<Env> {
  const app = new Hono<Env>()
  recordRequests(app, options)
  app.use(async ({ env, req: { raw } }, next) => {
    guard.assertSite(readRequestInfo(env.incoming))
    if (isPreflight(raw.method, raw.headers)) {
      return new Response(null, { status: 204, headers: preflightHeaders(raw.headers) })
    }
    assertTarget(raw.url)
    return next()
  })
  const routes = [
    ...(options.surface === 'all' ? controlRoutes(options, { signer, dashboard }) : []),
    ...healthRoutes(options, info),
    metrics,
  ]
  for (const route of routes) {
    const dispatch = createDispatcher(route, options, guard)
    app.on(route.method, honoPath(route.path), (context, next) =>
      route.isFor?.(context.req.raw) === false ? next() : dispatch(context),
    )
  }
  refuseOtherMethods(app, routes, guard)
  app.notFound((context) => {
    identify(context, guard)
    const { method, path, url } = context.req
    const bare = path.replace(/\/$/, '')
    if (bare !== path && routes.some((route) => isPathOf(route, bare))) {
      return context.redirect(`${bare}${new URL(url).search}`, 308)
    }
    const message = `No route matches ${method} ${path}${routeHint(options, routes, path)}`
    const { status } = ERROR_CODES.NOT_FOUND
    return refuse(context, { status, body: { error: 'NOT_FOUND', message } })
  })
  app.onError((error, context) => refuse(context, takeError(error, context, options)))
  return app
}

/** Logs and measures every request once its response exists. */
function recordRequests(app: Hono<Env>, options: ResolvedControlApiOptions): void {
  const { clock } = options
  app.use(async (context, next) => {
    const startedAt = clock.elapsed()
    await next()
    const { req, res, var: known } = context
    recordRequest(options, {
      method: req.method,
      status: res.status,
      durationMs: clock.elapsed() - startedAt,
      runId: req.param('runId'),
      traceId: readTrace(req.raw.headers).traceparent?.split('-')[1],
      ...known,
    })
  })
}

function controlRoutes(
  options: ResolvedControlApiOptions,
  { signer, dashboard }: Pick<AppParts, 'signer' | 'dashboard'>,
): readonly HttpRoute[] {
  return [
    ...(dashboard === undefined ? [] : [dashboardPageRoute(dashboard)]),
    welcomeRoute(options),
    ...runRoutes(options),
    ...threadRoutes(options),
    ...scheduleRoutes(options),
    ...steeringRoutes(options),
    ...externalEventRoutes(options, signer),
    runEventsRoute(options),
    ...buildRoutes(options),
    ...toolRoutes(options),
    ...workspaceRoutes(options),
    ...lifecycleRoutes(options),
    ...accessRoutes(options, signer),
    ...documentRoutes(options),
    capabilitiesRoute(options),
    ...gatewayRoutes(options, {
      signer,
      reader: { detail: (runId, caller) => readRunDetail(options, runId, caller) },
    }),
    ...options.extensions.flatMap(({ routes }) => routes?.(options) ?? []),
    // Last, so that no file shadows a route.
    ...(dashboard === undefined ? [] : dashboardFileRoutes(dashboard)),
  ]
}

/** Creates the function that handles the requests to one route. */
function createDispatcher(
  route: HttpRoute,
  options: ResolvedControlApiOptions,
  guard: RequestGuard,
): (context: Context<Env>) => Promise<Response> {
  const { trail, clock } = options
  const { scope } = route
  const action = routeName(route)
  const mediaTypes = findMediaTypes(route)
  const answer = async (
    context: Context<Env>,
    caller: Caller,
    addSubject: AddSubject,
  ): Promise<RouteAnswer> => {
    const { raw: request } = context.req
    setBodySource(request, context.env.incoming)
    const parameters = context.req.param()
    assertScope(caller, (await route.findScope?.(parameters, caller)) ?? scope)
    if (route.refusesForms !== true) assertNoForm(request)
    if (mediaTypes !== undefined) assertAcceptable(request.headers.get('accept'), mediaTypes)
    return route.handle({ request, caller, addSubject, parameters })
  }
  const dispatch = async (context: Context<Env>): Promise<Response> => {
    const caller = scope === null ? anonymousCaller(context) : identify(context, guard, route)
    if (caller.name !== undefined) context.set('actor', caller.name)
    const source = admitRequest(context.env, caller, options)
    return workFor(source, () => dispatchFor(context, caller, source.held))
  }
  const dispatchFor = async (
    context: Context<Env>,
    caller: Caller,
    held: Reservation,
  ): Promise<Response> => {
    const respond = (answered: RouteAnswer): Response => {
      if (answered instanceof Response) return answered
      // A stream can be open for days, and its body has been read.
      held.release()
      return sendStream(context, answered, { caller, clock })
    }
    if (!isAudited(scope)) return respond(await answer(context, caller, () => undefined))
    const { runId, reviewId, name: target = reviewId } = context.req.param()
    const subject = {
      ...(runId === undefined ? {} : { runId }),
      ...(target === undefined ? {} : { target }),
    }
    const audit = { caller, action, via: 'http', ...subject } as const
    const work = (addSubject: AddSubject) => answer(context, caller, addSubject)
    return respond(await audited(audit, { trail, now: clock.now() }, work))
  }
  return async (context) => {
    context.set('route', action)
    try {
      return await dispatch(context)
    } catch (error) {
      if (route.toErrorResponse === undefined) throw error
      return route.toErrorResponse(takeError(error, context, options))
    }
  }
}

/** Reports an error and returns its wire form; the request of an internal error is logged with the id of the error. */
function takeError(
  error: unknown,
  context: Context<Env>,
  reporting: ResolvedControlApiOptions,
): WireError {
  const wire = reportError(error, reporting)
  if (wire.body.requestId !== undefined) context.set('requestId', wire.body.requestId)
  return wire
}

/** Sends a stream on the connection of a request, until the key of the caller expires. */
function sendStream(
  { env: { outgoing }, req }: Context<Env>,
  { headers, parts }: StreamAnswer,
  { caller, clock }: { readonly caller: Caller; readonly clock: Clock },
): Response {
  if (req.raw.method === 'HEAD') {
    parts.batches.return?.().catch(() => undefined)
    return new Response(null, { headers })
  }
  outgoing.writeHead(200, headers)
  const end = writeEvents(outgoing, parts)
  if (caller.expiresAt !== Infinity) {
    outgoing.on('close', clock.after(caller.expiresAt - clock.now(), end))
  }
  return ALREADY_SENT
}

function anonymousCaller({ env }: Context<Env>): Caller {
  return anyone(env.incoming.socket.remoteAddress)
}

function identify(
  { env }: Context<Env>,
  guard: RequestGuard,
  route?: Pick<HttpRoute, 'takesTicket'>,
): Caller {
  return guard.identify(readRequestInfo(env.incoming), { takesTicket: route?.takesTicket === true })
}

/** Returns an error outside of a route, in the shape of the API to which the path belongs. */
function refuse(
  { req: { path } }: Context<Env>,
  error: WireError,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return isOpenAiPath(path) ? toOpenAiResponse(error, headers) : toResponse(error, headers)
}

/** Hint for requests to a route that this process does not serve. */
function routeHint(
  { surface }: ResolvedControlApiOptions,
  routes: readonly HttpRoute[],
  path: string,
): string {
  const inV1 = `/v1${path}`
  if (routes.some((route) => route.path === inV1)) {
    return `. Did you mean ${inV1}? The base URL of OpenAI clients ends with /v1`
  }
  if (surface === 'all') return '; GET /docs lists all routes'
  const served = routes.map(({ path }) => path).join(', ')
  return `: this process is a worker, which executes runs and serves only ${served}`
}

/** Answers other methods at known paths with 405 and the methods that the path allows. */
function refuseOtherMethods(
  app: Hono<Env>,
  routes: readonly HttpRoute[],
  guard: RequestGuard,
): void {
  const methods = new Map<string, readonly HttpRoute[]>()
  for (const route of routes) {
    methods.set(route.path, [...(methods.get(route.path) ?? []), route])
  }
  for (const [path, taken] of methods) {
    const allowed = [...new Set(taken.map(({ method }) => method))]
    const isPublic = taken.every(({ scope }) => scope === null)
    const allow = (allowed.includes('GET') ? [...allowed, 'HEAD'] : allowed).join(', ')
    app.all(honoPath(path), (context, next) => {
      if (taken.every(({ isFor }) => isFor?.(context.req.raw) === false)) return next()
      if (!isPublic) identify(context, guard)
      const message = `${context.req.path} allows ${allow}, got ${context.req.method}`
      const { status } = ERROR_CODES.METHOD_NOT_ALLOWED
      const body = { error: 'METHOD_NOT_ALLOWED', message } as const
      return refuse(context, { status, body }, { allow })
    })
  }
}

/** Converts a path template such as `/api/runs/{runId}` to Hono's syntax. */
/** Whether a route of the API has this path, with any parameters. */
function isPathOf({ path }: HttpRoute, asked: string): boolean {
  const [own, given] = [path.split('/'), asked.split('/')]
  if (own[1] !== 'api' || own.length !== given.length) return false
  return given.every((part, at) => part === own[at] || (part !== '' && own[at]?.startsWith('{')))
}

function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

const NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(ROUTES).map(([name, { method, path }]) => [`${method} ${path}`, name]),
)

/** Returns the name of a route, such as `cancelRun`; its method and path if the table of routes does not have it. */
function routeName({ method, path }: Pick<HttpRoute, 'method' | 'path'>): string {
  const address = `${method} ${path}`
  return NAMES.get(address) ?? address
}

const TABLE: ReadonlyMap<string, RouteEntry> = new Map(
  Object.values(ROUTES).map((route) => [`${route.method} ${route.path}`, route]),
)

/** Returns the media types that a route can send on success; undefined if it has no body or is not in the table. */
function findMediaTypes(
  route: Pick<HttpRoute, 'method' | 'path' | 'mediaTypes'>,
): readonly string[] | undefined {
  const listed = TABLE.get(`${route.method} ${route.path}`)
  if (route.mediaTypes !== undefined || listed === undefined) return route.mediaTypes
  const { mediaType, response, others = [] } = listed
  if (mediaType !== undefined) return [mediaType]
  if (response === null) return undefined
  const hasStream = others.some(({ event }) => event !== undefined)
  return ['application/json', ...(hasStream ? ['text/event-stream'] : [])]
}
