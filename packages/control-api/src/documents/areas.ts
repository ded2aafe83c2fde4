/** The routes by what they are about, in the order in which somebody meets them. */
import type { RouteName } from '@tutti/protocol'

/** One group of routes. */
export interface Area {
  readonly name: string
  readonly description: string
  readonly routes: readonly RouteName[]
}

/** Every route is in exactly one. */
export const AREAS: readonly Area[] = [
  {
    name: 'Runs',
    description: 'Submit runs, look at them, take them away.',
    routes: ['submitRun', 'listRuns', 'getRun', 'deleteRun', 'getRunTrace', 'getRunDag'],
  },
  {
    name: 'Events',
    description:
      'Follow runs as they happen. Every event has a number that grows by one in its run, so that a reader who comes back misses nothing.',
    routes: ['streamRunEvents', 'openSocket', 'openRunSocket'],
  },
  {
    name: 'Steering',
    description: 'Act on a run while it works.',
    routes: ['cancelRun', 'cancelRuns', 'switchModel', 'injectDirective'],
  },
  {
    name: 'Reviews',
    description: 'Gates at which a run waits for a person.',
    routes: ['listReviews', 'decideReview'],
  },
  {
    name: 'Catalog',
    description: 'What requests may name, and tools called by hand.',
    routes: ['getCapabilities', 'invokeTool'],
  },
  {
    name: 'Workspace',
    description: 'The files that tools work on.',
    routes: [
      'listWorkspaceFiles',
      'readWorkspaceFile',
      'listRunWorkspaceFiles',
      'readRunWorkspaceFile',
    ],
  },
  {
    name: 'Access',
    description: 'The key of the caller, tickets for browsers, and who did what.',
    routes: ['getIdentity', 'createTicket', 'listAudit'],
  },
  {
    name: 'Server',
    description: 'How the server is, and stopping it.',
    routes: ['getStatus', 'getLiveness', 'getReadiness', 'getMetrics', 'drain'],
  },
  {
    name: 'Documents',
    description: 'What this API is, for programs and people.',
    routes: ['getOpenApi', 'getAsyncApi', 'getDocs', 'getDocsScript'],
  },
]
