/** Builds, and runs that wait for one. */
import { ROUTES } from '@tutti/protocol'
import { MigrateRunBody, SetBuildShareBody, type BuildShareSet } from '@tutti/protocol/internal'
import { readJsonBody, type HttpRoute } from '@tutti/gateway/internal'

import { listBuilds } from '../runs/list-builds.ts'

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
        return Response.json(await listBuilds(runs))
      },
    },
    {
      ...ROUTES.setBuildShare,
      async handle({ request, addSubject, parameters: { build = '' } }) {
        addSubject({ target: build })
        const { share } = await readJsonBody(request, SetBuildShareBody, maxBodyBytes)
        await runs.builds.setShare(build, share)
        const body: BuildShareSet = { build, share }
        return Response.json(body)
      },
    },
    {
      ...ROUTES.migrateRun,
      async handle({ request, parameters: { runId = '' } }) {
        const body = await readJsonBody(request, MigrateRunBody, maxBodyBytes)
        return Response.json(await runs.builds.migrate(runId, body))
      },
    },
  ]
}
