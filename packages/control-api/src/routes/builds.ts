/** Builds, and runs that wait for one. */
import {
  MigrateRunBody,
  ROUTES,
  SetBuildShareBody,
  type BuildList,
  type BuildShareSet,
} from '@tutti/protocol'
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
          builds: builds.map(({ unfinished, firstStartedAt, startedAt, ...build }) => ({
            ...build,
            firstStartedAt: new Date(firstStartedAt).toISOString(),
            startedAt: new Date(startedAt).toISOString(),
            runs: unfinished,
          })),
          current: runs.build,
        }
        return Response.json(body)
      },
    },
    {
      ...ROUTES.setBuildShare,
      async handle({ request, addSubject, parameters: { build = '' } }) {
        addSubject({ target: build })
        const { share } = await readJsonBody(request, SetBuildShareBody, maxBodyBytes)
        await runs.setBuildShare(build, share)
        const body: BuildShareSet = { build, share }
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
