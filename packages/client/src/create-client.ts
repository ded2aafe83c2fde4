/** Makes a client of one server. */
import { decode, ROUTES, routePath, type Capabilities, type ServerStatus } from '@tutti/protocol'

import { callRoute, type CallOptions } from './http/call-route.ts'
import { resolveClientOptions, type ClientOptions } from './options.ts'
import { createReviewsClient, type ReviewsClient } from './reviews-client.ts'
import { createRunsClient, type RunsClient } from './runs-client.ts'

/** A Tutti server, seen from outside. It holds no connection but those of its open event streams. */
export interface TuttiClient {
  readonly runs: RunsClient
  readonly reviews: ReviewsClient
  /** The ensembles, models and tools that the server offers. */
  capabilities(options?: CallOptions): Promise<Capabilities>
  /** How the server is. */
  status(options?: CallOptions): Promise<ServerStatus>
}

/**
 * Makes a client; nothing is sent before its first call.
 *
 * @throws {TypeError} when `baseUrl` is no http(s) address, or a header or the key cannot be sent.
 * @throws {RangeError} when a number is out of its range.
 */
export function createClient(options: ClientOptions): TuttiClient {
  const settings = resolveClientOptions(options)
  return {
    runs: createRunsClient(settings),
    reviews: createReviewsClient(settings),
    capabilities: (callOptions) =>
      callRoute(settings, {
        ...callOptions,
        method: ROUTES.getCapabilities.method,
        path: routePath('getCapabilities'),
        decode: (value) => decode(ROUTES.getCapabilities.response, value),
      }),
    status: (callOptions) =>
      callRoute(settings, {
        ...callOptions,
        method: ROUTES.getStatus.method,
        path: routePath('getStatus'),
        decode: (value) => decode(ROUTES.getStatus.response, value),
      }),
  }
}
