/** Serves a text at `/` for people who open the address of the server: its ensembles and next steps. */
import { inputVariables } from '@tutti/ensemble/internal'

import type { HttpRoute } from '@tutti/gateway/internal'
import type { ResolvedControlApiOptions } from '../options.ts'

/** Returns the route of the text, which contains commands to copy. Browsers get the dashboard instead, if any. */
export function welcomeRoute({ runs }: ResolvedControlApiOptions): HttpRoute {
  return {
    method: 'GET',
    path: '/',
    scope: 'runs:read',
    mediaTypes: ['text/plain'],
    handle({ request }) {
      const { origin } = new URL(request.url)
      const ensembles = runs.ensembles.map(({ name, description, tasks }) => {
        const variables = inputVariables(tasks).map((variable) => `{${variable}}`)
        return `  ${name}  ${description} ${variables.join(' ')}`
      })
      return new Response(welcomeText(origin, ensembles, exampleBody(runs)), {
        headers: { 'content-type': 'text/plain; charset=utf-8', vary: 'Origin, accept' },
      })
    },
  }
}

function exampleBody(runs: ResolvedControlApiOptions['runs']): string {
  const variables = inputVariables(runs.ensembles[0]?.tasks ?? [])
  const inputs = Object.fromEntries(variables.map((name) => [name, 'AI safety']))
  return JSON.stringify({ inputs })
}

function welcomeText(origin: string, ensembles: readonly string[], body: string): string {
  return [
    'Tutti control API',
    '',
    'Ensembles',
    ...ensembles,
    '',
    'Submit a run',
    `  curl -X POST ${origin}/api/runs -H 'content-type: application/json' -d '${body}'`,
    'Follow it live',
    `  curl -N ${origin}/api/runs/{runId}/events`,
    'Get its result',
    `  curl ${origin}/api/runs/{runId}`,
    'Call it from other agents, over A2A and MCP',
    `  ${origin}/.well-known/agent-card.json  ${origin}/mcp`,
    'Everything else',
    `  ${origin}/docs  ${origin}/api/capabilities  ${origin}/api/status  ${origin.replace(/^http/, 'ws')}/ws`,
    '',
  ].join('\n')
}
