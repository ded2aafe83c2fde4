/** Builds, and runs that wait for one. */
import { MigrateRunBody, ROUTES, type BuildList } from '@tutti/protocol'
import { readJsonBody, type HttpRoute } from '@tutti/gateway'

import type { ResolvedControlApiOptions } from '../options.ts'

/** Returns the routes of builds. */
export function buildRoutes({
  runs,
  maxBodyBytes,
}: Pick<ResolvedControlApiOptions, 'runs' | 'maxBodyBytes'>): readonly HttpRoute[] {
  return [
    {
      ...ROUTES.listBuilds,
      async handle() {
        const builds = await runs.builds()
        const body: BuildList = {
          builds: builds.map((build) => ({
            ...build,
            startedAt: new Date(build.startedAt).toISOString(),
          })),
          current: runs.build,
        }
        return Response.json(body)
      },
    },
    {
      ...ROUTES.migrateRun,
      async handle({ request, parameters: { runId = '' } }) {
        const body = await readJsonBody(request, MigrateRunBody, maxBodyBytes)
        return Response.json(await runs.migrate(runId, body))
      },
    },
  ]
}
