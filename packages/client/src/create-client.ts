/** Creates clients. */
import { resolveClientOptions, type ClientOptions } from './options.ts'
import { commandSender, type CommandSender } from './commands.ts'
import { createBuildsClient, type BuildsClient } from './builds-client.ts'
import { createEventsClient, type EventsClient } from './events-client.ts'
import { createReviewsClient, type ReviewsClient } from './reviews-client.ts'
import { createRunsClient } from './runs/runs-client.ts'
import { createServerClient, type ServerClient } from './server-client.ts'
import { connect } from './socket/connect.ts'
import { createSchedulesClient, type SchedulesClient } from './schedules-client.ts'
import { createThreadsClient, type ThreadsClient } from './threads-client.ts'
import { createToolsClient, type ToolsClient } from './tools-client.ts'
import { createWorkspaceClient, type WorkspaceClient } from './workspace-client.ts'

import type { RunsClient } from './runs/runs-types.ts'
import type { ConnectOptions, TuttiConnection } from './socket/connection-types.ts'

/** Client of one Tutti server. It holds no connections except for open event streams and WebSockets. */
export interface TuttiClient extends ServerClient, CommandSender {
  readonly runs: RunsClient
  readonly builds: BuildsClient
  readonly threads: ThreadsClient
  readonly schedules: SchedulesClient
  readonly reviews: ReviewsClient
  /** External events, which decide the waits of runs. */
  readonly events: EventsClient
  readonly tools: ToolsClient
  readonly workspace: WorkspaceClient
  /**
   * Opens a WebSocket to every run, or to the run `runId`. It reconnects until it is closed.
   *
   * @throws {TypeError} when `runId` is empty, or when the platform has no `WebSocket` and `openSocket` is not set.
   */
  connect(options?: ConnectOptions): TuttiConnection
}

/**
 * Creates a client. It sends nothing before its first call.
 *
 * @throws {TypeError} when `baseUrl` is not an http(s) URL, or when a header or the key cannot be sent.
 * @throws {RangeError} when a number is out of range.
 */
export function createClient(options: ClientOptions): TuttiClient {
  const settings = resolveClientOptions(options)
  return {
    ...createServerClient(settings),
    runs: createRunsClient(settings),
    builds: createBuildsClient(settings),
    threads: createThreadsClient(settings),
    schedules: createSchedulesClient(settings),
    reviews: createReviewsClient(settings),
    events: createEventsClient(settings),
    tools: createToolsClient(settings),
    workspace: createWorkspaceClient(settings),
    send: commandSender(settings),
    connect: (connectOptions) => connect(settings, connectOptions),
  }
}
