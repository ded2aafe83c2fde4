/**
 * Routes of the server as an A2A agent: card, JSON-RPC and REST.
 *
 *   {base}/.well-known/agent-card.json   card
 *   {base}/a2a                           JSON-RPC of 1.0 and 0.3
 *   {base}                               the same, for callers that know only the base URL
 *   {base}/a2a/v1/…                      REST of 1.0
 *
 * The base is the root of the server for all shared ensembles together, and `/agents/{ensemble}` for one alone.
 */
import { TuttiError } from '@tutti/core'

import { auditedCall } from '../service/gateway-call.ts'
import { GatewayService } from '../service/gateway-service.ts'
import {
  activeExtensions,
  ensembleAgent,
  rootAgent,
  type A2aCall,
  type ServedAgent,
} from './agent.ts'
import { answerCard } from './card.ts'
import { answerJsonRpc } from './json-rpc-answer.ts'
import { answerRest, parseRestPath } from './rest.ts'

import type { GatewayOptions } from '../gateway-options.ts'
import type { HttpRoute, HttpRouteCall, RouteAnswer } from '../http/route.ts'

/** Scope of every request, since each shows tasks; operations that change something need more. */
const SCOPE = 'runs:read'

/** Returns the routes of the A2A agents. */
export function a2aRoutes(options: GatewayOptions): readonly HttpRoute[] {
  return [
    ...routesBelow('', options, () => rootAgent(options)),
    ...routesBelow('/agents/{ensemble}', options, ({ ensemble = '' }) =>
      ensembleAgent(options, ensemble),
    ),
  ]
}

type FindAgent = (parameters: HttpRouteCall['parameters']) => ServedAgent | undefined

function routesBelow(base: string, options: GatewayOptions, find: FindAgent): readonly HttpRoute[] {
  const agentOf = ({ request, parameters }: HttpRouteCall): ServedAgent => {
    const agent = find(parameters)
    if (agent !== undefined) return agent
    const { pathname } = new URL(request.url)
    throw new TuttiError('NOT_FOUND', `No agent at ${pathname}`)
  }
  const service = new GatewayService(options)
  const a2aCallOf = (routeCall: HttpRouteCall): A2aCall => {
    const { request, caller } = routeCall
    const { headers, signal: gone } = request
    const call = auditedCall(options, caller)
    return { service, call, agent: agentOf(routeCall), headers, gone }
  }
  const card = (file: string): HttpRoute => ({
    method: 'GET',
    path: `${base}/.well-known/${file}`,
    scope: null,
    handle: (call) => answerCard(call.request, agentOf(call), options),
  })
  const jsonRpc = (path: string): HttpRoute => ({
    method: 'POST',
    path,
    scope: SCOPE,
    refusesForms: true,
    handle: async (call) => {
      const a2aCall = a2aCallOf(call)
      return withExtensions(await answerJsonRpc(call.request, a2aCall), a2aCall)
    },
  })
  const rest = ([method, path]: readonly [string, string]): HttpRoute => ({
    method,
    path: `${base}/a2a/v1/${path}`,
    scope: SCOPE,
    refusesForms: true,
    handle: async (call) => {
      const a2aCall = a2aCallOf(call)
      const { first, second, third, fourth } = call.parameters
      const segments = [first, second, third, fourth].filter((segment) => segment !== undefined)
      const answer = await answerRest(call.request, parseRestPath(method, segments), a2aCall)
      return withExtensions(answer, a2aCall)
    },
  })
  return [
    card('agent-card.json'),
    card('agent.json'),
    jsonRpc(`${base}/a2a`),
    jsonRpc(`${base}/a2a/`),
    jsonRpc(`${base}/`),
    ...(base === '' ? [] : [jsonRpc(base)]),
    ...REST_ADDRESSES.map(rest),
  ]
}

/** Paths of REST. Parameters are whole segments, because a colon begins a parameter in the router's patterns. */
const REST_ADDRESSES = [
  ['GET', '{first}'],
  ['POST', '{first}'],
  ['GET', '{first}/{second}'],
  ['POST', '{first}/{second}'],
  ['GET', '{first}/{second}/{third}'],
  ['POST', '{first}/{second}/{third}'],
  ['GET', '{first}/{second}/{third}/{fourth}'],
  ['DELETE', '{first}/{second}/{third}/{fourth}'],
] as const

/** Adds the header that lists the active extensions. */
function withExtensions(answer: RouteAnswer, { headers }: A2aCall): RouteAnswer {
  const active = activeExtensions(headers).join(', ')
  if (active === '') return answer
  if (!(answer instanceof Response)) {
    return { ...answer, headers: { ...answer.headers, 'a2a-extensions': active } }
  }
  answer.headers.set('a2a-extensions', active)
  return answer
}
