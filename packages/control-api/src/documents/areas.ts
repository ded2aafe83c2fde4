/** Groups the routes by topic, in the order in which a reader needs them. */
import type { RouteName } from '@tutti/protocol'
import { COMMANDS } from '@tutti/protocol/internal'

import type { ServerExtension } from '@tutti/gateway/internal'

/** A group of routes on one topic. */
export interface Area {
  readonly name: string
  readonly description: string
  readonly routes: readonly RouteName[]
}

/** Groups of the routes of every server. */
const AREAS: readonly Area[] = [
  {
    name: 'Runs',
    description: 'Submit, list, inspect and delete runs.',
    routes: ['submitRun', 'forkRun', 'replayRun', 'listRuns', 'compareRuns', 'getRun', 'deleteRun'],
  },
  {
    name: 'Threads',
    description:
      'Conversations that consist of runs. Each run gets the messages of the earlier ones.',
    routes: ['createThread', 'listThreads', 'getThread', 'listThreadRuns', 'deleteThread'],
  },
  {
    name: 'Schedules',
    description: 'Submissions that are repeated at the ticks of a cron expression.',
    routes: [
      'createSchedule',
      'listSchedules',
      'getSchedule',
      'replaceSchedule',
      'pauseSchedule',
      'resumeSchedule',
      'runSchedule',
      'deleteSchedule',
    ],
  },
  {
    name: 'Events',
    description:
      'Follow runs live. The events of a run are numbered without gaps, so a reader can resume after any of them.',
    routes: ['streamRunEvents', 'openSocket', 'openRunSocket'],
  },
  {
    name: 'Builds',
    description:
      'The builds that have started, their shares of new runs, and runs that wait for a build.',
    routes: ['listBuilds', 'setBuildShare', 'migrateRun'],
  },
  {
    name: 'Steering',
    description: 'Change a run while it executes.',
    routes: [...commandRoutes('runId'), 'cancelRuns'],
  },
  {
    name: 'Reviews',
    description: 'Points at which a run waits for the decision of a person.',
    routes: ['listReviews', ...commandRoutes('reviewId')],
  },
  {
    name: 'External events',
    description: 'Events of other systems, which decide the waits of runs.',
    routes: ['sendEvent', 'createEventLink', 'sendLinkedEvent'],
  },
  {
    name: 'Catalog',
    description: 'Names that requests may use, and direct calls of tools.',
    routes: ['getCapabilities', 'invokeTool'],
  },
  {
    name: 'Workspace',
    description: 'Files that tools work on.',
    routes: [
      'listWorkspaceFiles',
      'readWorkspaceFile',
      'listRunWorkspaceFiles',
      'readRunWorkspaceFile',
    ],
  },
  {
    name: 'Access',
    description: 'The identity of the caller, tickets for browsers, and the audit trail.',
    routes: ['getIdentity', 'createTicket', 'listAudit'],
  },
  {
    name: 'Server',
    description: 'Health, status and metrics of the server, and its shutdown.',
    routes: ['getStatus', 'getLiveness', 'getReadiness', 'getMetrics', 'drain'],
  },
  {
    name: 'Documents',
    description: 'Descriptions of this API for programs and people.',
    routes: ['getOpenApi', 'getAsyncApi', 'getDocs', 'getDocsScript'],
  },
]

/** Returns all groups with the routes that the extensions of a server document. Every route is in exactly one. */
export function listAreas(extensions: readonly ServerExtension[]): readonly Area[] {
  const added = extensions.flatMap(({ documented = [] }) => documented)
  return AREAS.map((area) => {
    const own = added.filter((one) => one.area === area.name)
    return { ...area, routes: [...area.routes, ...own.flatMap(({ routes }) => routes)] }
  })
}

/** Returns the routes of all commands for runs, or for reviews. */
function commandRoutes(target: 'runId' | 'reviewId'): readonly RouteName[] {
  return Object.values(COMMANDS).flatMap((command) =>
    command.target === target ? command.routeName : [],
  )
}
