/** Makes a client of one server. */
import { resolveClientOptions, type ClientOptions } from './options.ts'
import { createReviewsClient, type ReviewsClient } from './reviews-client.ts'
import { createRunsClient } from './runs/runs-client.ts'
import { createServerClient, type ServerClient } from './server-client.ts'
import { connect } from './socket/connect.ts'
import { createToolsClient, type ToolsClient } from './tools-client.ts'
import { createWorkspaceClient, type WorkspaceClient } from './workspace-client.ts'

import type { RunsClient } from './runs/runs-types.ts'
import type { ConnectOptions, TuttiConnection } from './socket/connection-types.ts'

/** A Tutti server, seen from outside. It holds no connection but its open event streams and sockets. */
export interface TuttiClient extends ServerClient {
  readonly runs: RunsClient
  readonly reviews: ReviewsClient
  readonly tools: ToolsClient
  readonly workspace: WorkspaceClient
  /**
   * Opens a WebSocket to every run, or to the run `runId`, and keeps it open until it is closed: it comes
   * back by itself.
   *
   * @throws {TypeError} when `runId` is empty, or there is no `WebSocket` here and none was given.
   */
  connect(options?: ConnectOptions): TuttiConnection
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
    ...createServerClient(settings),
    runs: createRunsClient(settings),
    reviews: createReviewsClient(settings),
    tools: createToolsClient(settings),
    workspace: createWorkspaceClient(settings),
    connect: (connectOptions) => connect(settings, connectOptions),
  }
}
