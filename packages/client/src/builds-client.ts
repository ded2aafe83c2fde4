/** The builds of a server. */
import { ROUTES, routePath } from '@tutti/protocol'
import type { BuildList, BuildShareSet } from '@tutti/protocol/internal'

import { callRoute } from './http/call-route.ts'

import type { CallOptions } from './http/exchange.ts'
import type { ResolvedClientOptions } from './options.ts'

/** Builds of a server: the code of its processes. Every method throws {@link TuttiClientError}. */
export interface BuildsClient {
  /** Returns the builds that have started, newest first, with their processes, shares and unfinished runs. */
  list(options?: CallOptions): Promise<BuildList>
  /** Sets the percentage of new runs that a build gets while older builds live, from 0 to 100. */
  setShare(build: string, share: number, options?: CallOptions): Promise<BuildShareSet>
}

/** Creates the builds part of a client. */
export function createBuildsClient(settings: ResolvedClientOptions): BuildsClient {
  return {
    list: async (options = {}) =>
      callRoute(settings, ROUTES.listBuilds, { ...options, path: routePath('listBuilds') }),
    setShare: async (build, share, options = {}) =>
      callRoute(settings, ROUTES.setBuildShare, {
        ...options,
        path: routePath('setBuildShare', { build }),
        body: { share },
        isSafe: true,
      }),
  }
}
