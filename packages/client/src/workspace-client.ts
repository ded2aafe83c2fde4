/** The files of a server's workspace. */
import { ROUTES, routePath } from '@tutti/protocol'
import type { WorkspaceFiles } from '@tutti/protocol/internal'

import { callPlainRoute, callRoute } from './http/call-route.ts'

import type { CallOptions } from './http/exchange.ts'
import type { ResolvedClientOptions } from './options.ts'

/** The workspace of a server. Every method throws {@link TuttiClientError}. */
export interface WorkspaceClient {
  /** Returns the entries of a directory of the workspace. @default `path` is the root */
  list(path?: string, options?: CallOptions): Promise<WorkspaceFiles>
  /** Returns the text of a file of the workspace, at most 1 MiB. */
  read(path: string, options?: CallOptions): Promise<string>
}

/** Creates the workspace part of a client. */
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
