/** Serves the files of the workspace, also below the path of a run's WebSocket, where dashboards look for them. */
import { realpathSync, statSync } from 'node:fs'
import { isAbsolute } from 'node:path'

import { TuttiError } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'
import { ROUTES } from '@tutti/protocol'
import { WorkspaceFileQuery, WorkspaceFilesQuery } from '@tutti/protocol/internal'
import { findRecord, type HttpRoute } from '@tutti/gateway/internal'

import { readQuery } from '../http/read-query.ts'
import { listDirectory } from '../workspace/list-directory.ts'
import { rootAt, type Root } from '../workspace/open-inside.ts'
import { readTextFile } from '../workspace/read-text-file.ts'

import type { ResolvedControlApiOptions } from '../options.ts'

const TEXT = { 'content-type': 'text/plain; charset=utf-8' }

/**
 * Returns the routes of the workspace.
 *
 * @throws {TuttiError} CONFIG_INVALID when the workspace is not an absolute path of a directory.
 */
export function workspaceRoutes(options: ResolvedControlApiOptions): readonly HttpRoute[] {
  const root = options.workspace === undefined ? undefined : openWorkspace(options.workspace)
  const list: HttpRoute['handle'] = async ({ request }) => {
    const { path = '' } = readQuery(request.url, WorkspaceFilesQuery)
    return Response.json(await listDirectory(assertConfigured(root), path))
  }
  const read: HttpRoute['handle'] = async ({ request }) => {
    const { path } = readQuery(request.url, WorkspaceFileQuery)
    return new Response(await readTextFile(assertConfigured(root), path), { headers: TEXT })
  }
  const ofRun =
    (handle: HttpRoute['handle']): HttpRoute['handle'] =>
    async (call) => {
      await findRecord(options.runs, call.parameters['runId'] ?? '', call.caller)
      return handle(call)
    }
  return [
    { ...ROUTES.listWorkspaceFiles, handle: list },
    { ...ROUTES.readWorkspaceFile, handle: read },
    { ...ROUTES.listRunWorkspaceFiles, handle: ofRun(list) },
    { ...ROUTES.readRunWorkspaceFile, handle: ofRun(read) },
  ]
}

function assertConfigured(root: Root | undefined): Root {
  if (root !== undefined) return root
  throw new TuttiError(
    'NOT_CONFIGURED',
    'This server has no workspace; its operator can configure one',
  )
}

function openWorkspace(directory: string): Root {
  const refuse = (why: string, cause?: unknown): TuttiError =>
    new TuttiError('CONFIG_INVALID', `Cannot serve the workspace "${directory}": ${why}`, { cause })
  if (!isAbsolute(directory)) throw refuse('it must be an absolute path')
  try {
    const real = realpathSync(directory)
    if (statSync(real).isDirectory()) return rootAt(real)
  } catch (error) {
    throw refuse(errorMessage(error), error)
  }
  throw refuse('it is not a directory')
}
