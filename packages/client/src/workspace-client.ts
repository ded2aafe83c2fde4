/** The files of a server's workspace. */
import { ROUTES, routePath, type WorkspaceFiles } from '@tutti/protocol'

import { callPlainRoute, callRoute } from './http/call-route.ts'

import type { CallOptions } from './http/exchange.ts'
import type { ResolvedClientOptions } from './options.ts'

/** The workspace of a server. Every method throws {@link TuttiClientError}. */
export interface WorkspaceClient {
  /** The entries of a directory below the root of the workspace, which is meant when `path` is absent. */
  list(path?: string, options?: CallOptions): Promise<WorkspaceFiles>
  /** The text of a file below the root, at most 1 MiB. */
  read(path: string, options?: CallOptions): Promise<string>
}

/** Makes the workspace part of a client. */
export function createWorkspaceClient(settings: ResolvedClientOptions): WorkspaceClient {
  return {
    list: async (path, options) =>
      callRoute(settings, ROUTES.listWorkspaceFiles, {
        ...options,
        path: routePath('listWorkspaceFiles'),
        query: { path },
      }),
    read: async (path, options) =>
      callPlainRoute(settings, ROUTES.readWorkspaceFile, {
        ...options,
        path: routePath('readWorkspaceFile'),
        query: { path },
      }),
  }
}
